/** Tells any number of listeners of events. */
export type Emitter<Event> = {
  /**
   * Calls every current listener, oldest first, except those that unsubscribe during the call.
   * @throws the first listener's error, after all were called
   */
  emit(event: Event): void
  /** @returns ends this subscription; calling it again does nothing */
  subscribe(listener: (event: Event) => void): () => void
  /** Ends all subscriptions. */
  clear(): void
}

export function createEmitter<Event = void>(): Emitter<Event> {
  /** A key for each subscription: one function may listen twice, and leave once. */
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
