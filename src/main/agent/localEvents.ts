import type { LocalEvent } from '../../shared/contract/localApi.ts'

/** Everything that the window hears: what the service tells, and what the agent itself does. */
export type LocalEvents = {
  publish(event: LocalEvent): void
  /** The state of the connection comes first. @returns what ends the subscription */
  subscribe(listener: (event: LocalEvent) => void): () => void
}

export function localEvents(link: Pick<LocalEvents, 'subscribe'>): LocalEvents {
  const listeners = new Set<(event: LocalEvent) => void>()
  return {
    publish(event) {
      for (const listener of [...listeners]) listener(event)
    },
    subscribe(listener) {
      listeners.add(listener)
      const leave = link.subscribe(listener)
      return () => {
        listeners.delete(listener)
        leave()
      }
    },
  }
}
