/**
 * Calls in progress by client, so that it can cancel one: up to revision 2025-11-25 by a notification, which arrives as
 * a separate request.
 */
export type OpenCalls = {
  /** @param id of the request. @param disconnected fires when its connection ends. @returns the signal of both; `end` forgets it */
  begin(client: string, id: string | number, disconnected: AbortSignal): { signal: AbortSignal; end(): void }
  /** Ids count from 0 in each program: where two with the same key wait for the same id, neither is taken back. */
  cancel(client: string, id: string | number): void
}

export function openCalls(): OpenCalls {
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

/** `1` and `"1"` are two ids. */
function toKey(client: string, id: string | number): string {
  return `${client} ${JSON.stringify(id)}`
}
