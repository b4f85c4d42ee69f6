/** Callers that wait for a change of one intent. */
export type IntentWatchers = {
  tell(id: string): void
  /** Resolves as soon as `isOver`, when the time is up, when the caller has gone, or at the end of Steward. */
  wait(id: string, options: { waitMs: number; signal?: AbortSignal | undefined; isOver: () => boolean }): Promise<void>
  close(): void
}

export function intentWatchers(): IntentWatchers {
  const watching = new Map<string, Set<() => void>>()
  const ends = new Set<() => void>()
  let closed = false

  return {
    tell(id) {
      for (const look of [...(watching.get(id) ?? [])]) look()
    },
    wait: (id, { waitMs, signal, isOver }) =>
      new Promise<void>((resolve) => {
        if (closed || waitMs <= 0 || signal?.aborted || isOver()) return resolve()
        const looks = watching.get(id) ?? new Set()
        watching.set(id, looks)
        const end = (): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', end)
          looks.delete(look)
          if (looks.size === 0) watching.delete(id)
          ends.delete(end)
          resolve()
        }
        const look = (): void => {
          if (isOver()) end()
        }
        const timer = setTimeout(end, waitMs)
        signal?.addEventListener('abort', end)
        looks.add(look)
        ends.add(end)
      }),
    close() {
      closed = true
      for (const end of [...ends]) end()
    },
  }
}
