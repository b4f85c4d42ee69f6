import { useSyncExternalStore } from 'react'
import { createEmitter } from '#shared/emitter.ts'

export type Observable<Value> = { readonly now: Value; subscribe(listener: () => void): () => void }

export type Settable<Value> = Observable<Value> & { set(value: Value): void }

export function createObservable<Value>(initial: Value): Settable<Value> {
  const changes = createEmitter()
  let now = initial
  return {
    get now() {
      return now
    },
    subscribe: changes.subscribe,
    set(value) {
      if (Object.is(value, now)) return
      now = value
      changes.emit()
    },
  }
}

export function useObservable<Value>(of: Observable<Value>): Value {
  return useSyncExternalStore(of.subscribe, () => of.now)
}
