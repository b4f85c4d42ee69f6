import { type SystemCallName, type SystemCallNumbers, systemCallNumbers } from '../systemCallNumbers.ts'

/** What the filter of system calls and the scripts need to know of an architecture. */
export type SystemCalls = {
  /** setns, prctl, setsid, capset, prlimit64, memfd_create, seccomp, setresuid, setresgid, statx, renameat2 */
  enter: string
  /** unshare, mount, umount2, setns, prctl */
  start: string
  /** As <linux/audit.h> numbers the architecture. */
  architecture: number
  socket: number
  /** Numbers from here on belong to another way to call the same kernel. */
  foreignFrom: number
  /** Calls without namespaces that no usual program misses. */
  forbidden: readonly number[]
}

const architectures: Partial<Record<NodeJS.Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const forbidden: readonly SystemCallName[] = [
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'kexec_load',
  'kexec_file_load',
  'add_key',
  'request_key',
  'keyctl',
  'open_by_handle_at',
  'io_uring_setup',
]

/** @returns undefined on an architecture that sandboxes were never tried on */
export function systemCalls(): SystemCalls | undefined {
  const numbers = systemCallNumbers()
  const architecture = architectures[process.arch]
  if (!numbers || architecture === undefined) return undefined
  const { setns, prctl, setsid, capset, prlimit64, memfd_create, seccomp, setresuid, setresgid } = numbers
  const { unshare, mount, umount2, statx, renameat2, socket } = numbers
  return {
    enter: [
      ...[setns, prctl, setsid, capset, prlimit64, memfd_create, seccomp, setresuid, setresgid],
      ...[statx, renameat2],
    ].join(),
    start: [unshare, mount, umount2, setns, prctl].join(),
    architecture,
    socket,
    foreignFrom: 0x40000000,
    forbidden: numbersOf(numbers, forbidden),
  }
}

function numbersOf(numbers: SystemCallNumbers, names: readonly SystemCallName[]): number[] {
  return names.map((name) => numbers[name])
}
