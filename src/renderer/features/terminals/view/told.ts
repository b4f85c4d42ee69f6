import { useSyncExternalStore } from 'react'

/** A value that views follow. */
export type Told<Value> = { readonly now: Value; subscribe(listener: () => void): () => void }

export type Teller<Value> = Told<Value> & { tell(value: Value): void }

export function told<Value>(initial: Value): Teller<Value> {
  const listeners = new Set<() => void>()
  let now = initial
  return {
    get now() {
      return now
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    tell(value) {
      if (Object.is(value, now)) return
      now = value
      for (const listener of [...listeners]) listener()
    },
  }
}

export function useTold<Value>(of: Told<Value>): Value {
  return useSyncExternalStore(of.subscribe, () => of.now)
}
