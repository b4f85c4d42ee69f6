import type { LocalEvent } from '#shared/contract/localApi.ts'
import { createEmitter } from '#shared/emitter.ts'

/** Everything that the window hears: what the service tells, and what the agent itself does. */
export type LocalEvents = {
  publish(event: LocalEvent): void
  /** The state of the connection comes first. @returns what ends the subscription */
  subscribe(listener: (event: LocalEvent) => void): () => void
}

export function createLocalEvents(link: Pick<LocalEvents, 'subscribe'>): LocalEvents {
  const localEmitter = createEmitter<LocalEvent>()
  return {
    publish: localEmitter.emit,
    subscribe(listener) {
      const leaveOwn = localEmitter.subscribe(listener)
      const leaveLink = link.subscribe(listener)
      return () => {
        leaveOwn()
        leaveLink()
      }
    },
  }
}
