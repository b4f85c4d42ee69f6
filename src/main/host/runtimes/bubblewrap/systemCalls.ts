/** The kernel numbers some system calls per architecture. */
export type SystemCalls = {
  /** setns, prctl, setsid, capset, prlimit64, memfd_create */
  enter: string
  /** unshare, mount */
  start: string
}

const numbers: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: { enter: '308,157,112,126,302,319', start: '272,165' },
  arm64: { enter: '268,167,157,91,261,279', start: '97,40' },
}

/** @returns undefined on an architecture that sandboxes were never tried on */
export const systemCalls = (): SystemCalls | undefined => numbers[process.arch]
