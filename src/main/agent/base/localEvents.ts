import type { LocalEvent } from '#shared/contract/localApi.ts'
import { emitter } from '#shared/emitter.ts'

/** Everything that the window hears: what the service tells, and what the agent itself does. */
export type LocalEvents = {
  publish(event: LocalEvent): void
  /** The state of the connection comes first. @returns what ends the subscription */
  subscribe(listener: (event: LocalEvent) => void): () => void
}

export function localEvents(link: Pick<LocalEvents, 'subscribe'>): LocalEvents {
  const own = emitter<LocalEvent>()
  return {
    publish: own.emit,
    subscribe(listener) {
      const leaveOwn = own.subscribe(listener)
      const leaveLink = link.subscribe(listener)
      return () => {
        leaveOwn()
        leaveLink()
      }
    },
  }
}
