import { type SystemCallName, type SystemCallNumbers, systemCallNumbers } from '../systemCallNumbers.ts'

/** Instructions of classic BPF; see seccomp(2). */
const load = 0x20
const ifEqual = 0x15
const ifAtLeast = 0x35
const ifAnyBit = 0x45
const answer = 0x06
const allow = 0x7fff0000
const fail = (errno: number): number => 0x00050000 | errno

/** Offsets in what the kernel shows of a call. */
const shown = { number: 0, architecture: 4, firstArgument: 16 }
/** As <linux/audit.h> numbers the architecture. */
const architectures: Partial<Record<NodeJS.Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Numbers from here on belong to another way to call the same kernel. */
const foreignFrom = 0x40000000

/** Calls without namespaces that no usual program misses. */
const everywhere: readonly SystemCallName[] = [
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
/** What enters a sandbox needs it, what runs in one does not. The C library falls back to `clone`, whose flags can be seen. */
const inside: readonly SystemCallName[] = ['setns', 'clone3']
const makingNamespaces: readonly SystemCallName[] = ['unshare', 'clone']
const newUserNamespace = 0x10000000
/**
 * Families of sockets that nobody gets: frames that no rule of the machine's network sees (AF_PACKET, AF_XDP), and
 * sockets to the hypervisor and its other guests, which no network namespace holds back (AF_VSOCK).
 */
const forbiddenFamilies = [17, 40, 44]
const notPermitted = 1
const noSystemCall = 38
const noAddressFamily = 97

type Step = readonly [code: number, whenTrue: number, whenFalse: number, value: number]

/**
 * Namespaces do not cover everything: the outer filter refuses sockets past the network's rules, the kernel's key rings,
 * and calls that only widen what can be attacked. Programs of another architecture are refused altogether, since their
 * calls are numbered differently. The inner filter also refuses to make or join user namespaces.
 *
 * @returns the programs in hexadecimal; undefined on an architecture that sandboxes were never tried on
 */
export function seccompFilters(): { outer: string; inner: string } | undefined {
  const calls = systemCallNumbers()
  const architecture = architectures[process.arch]
  if (!calls || architecture === undefined) return undefined
  const program = (...steps: Step[][]): string =>
    Buffer.concat([...ofThis(architecture), ...steps.flat(), [answer, 0, 0, allow] as const].map(encode)).toString(
      'hex',
    )
  return {
    outer: program(refused(calls, everywhere), sockets(calls)),
    inner: program(refused(calls, [...everywhere, ...inside]), namespaces(calls), sockets(calls)),
  }
}

function ofThis(architecture: number): Step[] {
  return [
    [load, 0, 0, shown.architecture],
    [ifEqual, 1, 0, architecture],
    [answer, 0, 0, fail(noSystemCall)],
    [load, 0, 0, shown.number],
    [ifAtLeast, 0, 1, foreignFrom],
    [answer, 0, 0, fail(noSystemCall)],
  ]
}

function refused(calls: SystemCallNumbers, names: readonly SystemCallName[]): Step[] {
  return names.flatMap((name): Step[] => [
    [ifEqual, 0, 1, calls[name]],
    [answer, 0, 0, fail(noSystemCall)],
  ])
}

function namespaces(calls: SystemCallNumbers): Step[] {
  return makingNamespaces.flatMap((name): Step[] => [
    [ifEqual, 0, 4, calls[name]],
    [load, 0, 0, shown.firstArgument],
    [ifAnyBit, 0, 1, newUserNamespace],
    [answer, 0, 0, fail(notPermitted)],
    [load, 0, 0, shown.number],
  ])
}

/** Comes last: it leaves the first argument where the number of the call was. */
function sockets(calls: SystemCallNumbers): Step[] {
  return [
    [ifEqual, 0, 1 + 2 * forbiddenFamilies.length, calls.socket],
    [load, 0, 0, shown.firstArgument],
    ...forbiddenFamilies.flatMap((family): Step[] => [
      [ifEqual, 0, 1, family],
      [answer, 0, 0, fail(noAddressFamily)],
    ]),
  ]
}

function encode([code, whenTrue, whenFalse, value]: Step): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue, 2)
  bytes.writeUInt8(whenFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
