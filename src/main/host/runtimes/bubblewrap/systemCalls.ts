/** The kernel numbers some system calls per architecture. */
export type SystemCalls = {
  /** setns, prctl, setsid, capset, prlimit64, memfd_create, seccomp, setresuid, setresgid */
  enter: string
  /** unshare, mount, umount2, setns, prctl */
  start: string
  /** statx, renameat2 */
  files: string
  fchownat: string
  /** As <linux/audit.h> numbers the architecture. */
  architecture: number
  socket: number
  /** Numbers from here on belong to another way to call the same kernel. */
  foreignFrom: number
  /** Calls without namespaces that no usual program misses. */
  forbidden: readonly number[]
}

/** Forbidden: bpf, perf_event_open, userfaultfd, kexec_load, kexec_file_load, add_key, request_key, keyctl, open_by_handle_at, io_uring_setup. */
const numbers: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: {
    enter: '308,157,112,126,302,319,317,117,119',
    start: '272,165,166,308,157',
    files: '332,316',
    fchownat: '260',
    architecture: 0xc000003e,
    socket: 41,
    foreignFrom: 0x40000000,
    forbidden: [321, 298, 323, 246, 320, 248, 249, 250, 304, 425],
  },
  arm64: {
    enter: '268,167,157,91,261,279,277,147,149',
    start: '97,40,39,268,167',
    files: '291,276',
    fchownat: '54',
    architecture: 0xc00000b7,
    socket: 198,
    foreignFrom: 0x40000000,
    forbidden: [280, 241, 282, 104, 294, 217, 218, 219, 265, 425],
  },
}

/** @returns undefined on an architecture that sandboxes were never tried on */
export const systemCalls = (): SystemCalls | undefined => numbers[process.arch]
