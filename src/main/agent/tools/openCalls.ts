/**
 * Calls that a client waits for, so that it can take one back: up to revision 2025-11-25 by a notification, which comes in a
 * request of its own.
 */
export type OpenCalls = {
  /** @param id of the request. @param gone fires when its connection ends. @returns the signal of both; `end` forgets it */
  begin(client: string, id: string | number, gone: AbortSignal): { signal: AbortSignal; end(): void }
  /** Ids count from 0 in each program: where two with the same key wait for the same id, neither is taken back. */
  cancel(client: string, id: string | number): void
}

export function openCalls(): OpenCalls {
  const open = new Map<string, Set<AbortController>>()
  return {
    begin(client, id, gone) {
      const key = keyOf(client, id)
      const taken = new AbortController()
      const all = open.get(key) ?? new Set()
      const leave = (): void => taken.abort()
      if (gone.aborted) leave()
      gone.addEventListener('abort', leave)
      open.set(key, all.add(taken))
      return {
        signal: taken.signal,
        end() {
          gone.removeEventListener('abort', leave)
          all.delete(taken)
          if (all.size === 0 && open.get(key) === all) open.delete(key)
        },
      }
    },
    cancel(client, id) {
      const [one, other] = open.get(keyOf(client, id)) ?? []
      if (other === undefined) one?.abort()
    },
  }
}

/** `1` and `"1"` are two ids. */
function keyOf(client: string, id: string | number): string {
  return `${client} ${JSON.stringify(id)}`
}
