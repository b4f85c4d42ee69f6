/**
 * Node.js options for a process that serves one user. A small young generation costs 10 % more CPU under load and
 * halves the memory. `--expose-gc` is for `releaseIdleMemory`.
 */
export const smallHeapOptions = ['--max-semi-space-size=4', '--expose-gc'] as const

/**
 * Configures glibc's malloc to return freed buffers to the kernel and to share two arenas among threads. Ignored by
 * other C libraries.
 */
export const smallAllocator = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const
