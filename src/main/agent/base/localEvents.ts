import type { LocalEvent } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'

/** Events for the window: those of the service and those of the agent itself. */
export type LocalEvents = {
  publish(event: LocalEvent): void
  /** Subscribes to events. The connection state is sent first. @returns the unsubscribe function */
  subscribe(listener: (event: LocalEvent) => void): () => void
}

export function createLocalEvents(link: Pick<LocalEvents, 'subscribe'>): LocalEvents {
  const localEmitter = createEmitter<LocalEvent>()
  return {
    publish: localEmitter.emit,
    subscribe(listener) {
      const unsubscribeOwn = localEmitter.subscribe(listener)
      const unsubscribeFromLink = link.subscribe(listener)
      return () => {
        unsubscribeOwn()
        unsubscribeFromLink()
      }
    },
  }
}
