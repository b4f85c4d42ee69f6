/**
 * Active calls by client, for cancellation. Up to revision 2025-11-25, a client cancels with a notification in a
 * separate request.
 */
export type CancellableCalls = {
  /**
   * @param id id of the request
   * @param disconnected fires when the connection closes
   * @returns a signal that combines both, and `end` to remove the call
   */
  begin(client: string, id: string | number, disconnected: AbortSignal): { signal: AbortSignal; end(): void }
  /**
   * Cancels a call. Request ids start at 0 in each program, so nothing is canceled if two programs with the same key
   * have an open call with this id.
   */
  cancel(client: string, id: string | number): void
}

export function createCancellableCalls(): CancellableCalls {
  const open = new Map<string, Set<AbortController>>()
  return {
    begin(client, id, disconnected) {
      const key = toKey(client, id)
      const controller = new AbortController()
      const all = open.get(key) ?? new Set()
      const abort = (): void => controller.abort()
      if (disconnected.aborted) abort()
      disconnected.addEventListener('abort', abort)
      open.set(key, all.add(controller))
      return {
        signal: controller.signal,
        end() {
          disconnected.removeEventListener('abort', abort)
          all.delete(controller)
          if (all.size === 0 && open.get(key) === all) open.delete(key)
        },
      }
    },
    cancel(client, id) {
      const [first, second] = open.get(toKey(client, id)) ?? []
      if (second === undefined) first?.abort()
    },
  }
}

/** `1` and `"1"` are different ids. */
function toKey(client: string, id: string | number): string {
  return `${client} ${JSON.stringify(id)}`
}
