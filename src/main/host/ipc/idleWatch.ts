export type IdleWatch = { machines(count: number): void; connections(count: number): void; close(): void }

/** Calls `onIdle` after `ms` milliseconds without sandboxes and connections. */
export function createIdleWatch({ ms, onIdle }: { ms: number; onIdle: () => void }): IdleWatch {
  let sandboxCount = 0
  let connectionCount = 0
  let timer: NodeJS.Timeout | undefined

  const look = (): void => {
    clearTimeout(timer)
    timer = sandboxCount + connectionCount === 0 ? setTimeout(onIdle, ms) : undefined
  }

  look()
  return {
    machines(count) {
      sandboxCount = count
      look()
    },
    connections(count) {
      connectionCount = count
      look()
    },
    close: () => clearTimeout(timer),
  }
}
