/** Event emitter with any number of listeners. */
export type Emitter<Event> = {
  /**
   * Calls every current listener, oldest first, except those that unsubscribe during the call.
   * @throws the first error of a listener, after all were called
   */
  emit(event: Event): void
  /** @returns an idempotent function that removes the listener */
  subscribe(listener: (event: Event) => void): () => void
  /** Removes all listeners. */
  clear(): void
}

export function createEmitter<Event = void>(): Emitter<Event> {
  /** One key per subscription, so that a function can be subscribed twice and unsubscribed once. */
  const listeners = new Map<symbol, (event: Event) => void>()
  return {
    emit(event) {
      const failures: unknown[] = []
      for (const [key, listener] of [...listeners]) {
        if (!listeners.has(key)) continue
        try {
          listener(event)
        } catch (error) {
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
    subscribe(listener) {
      const key = Symbol('subscription')
      listeners.set(key, listener)
      return () => void listeners.delete(key)
    },
    clear: () => listeners.clear(),
  }
}
