import type { z } from 'zod'
import { createEmitter } from '#shared/emitter.ts'
import { deviceStore, type TextStore, windowStore } from './textStore.ts'

/** Value that survives a reload if the browser allows storage. */
export type Persisted<Value> = {
  /** @returns the same object until the stored text changes */
  read(): Value
  write(value: Value): void
  clear(): void
  /** Calls `listener` after each change by this window, and by other windows through the browser. */
  subscribe(listener: () => void): () => void
}

type PersistedOptions = {
  /** Stores to read in order until one contains a valid value. Values are written to all of them. */
  stores?: readonly TextStore[]
  /**
   * If the browser refuses a write, `hold` keeps the value in memory until the page unloads. `discard` removes the
   * stored value, so that an older one is not restored.
   */
  onRefusal?: 'hold' | 'discard'
}

/**
 * @param schema validates stored values; strings are stored unchanged, all other values as JSON
 * @param fallback value if none is stored or the stored one is invalid
 */
export function persistValue<Value>(
  key: string,
  schema: z.ZodType<Value>,
  fallback: Value,
  { stores = [deviceStore], onRefusal = 'hold' }: PersistedOptions = {},
): Persisted<Value> {
  const changes = createEmitter()
  let last: { texts: readonly (string | null)[]; value: Value } | undefined

  function read(): Value {
    const texts = stores.map((store) => store.get(key))
    if (last?.texts.every((text, index) => text === texts[index])) return last.value
    const parsed = texts.map((text) => parseStored(text, schema))
    const value = parsed.find((it) => it !== undefined)?.value ?? fallback
    last = { texts, value }
    return value
  }

  return {
    read,
    write(value) {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      for (const store of stores) {
        const isStored = store.set(key, text)
        if (!isStored && onRefusal === 'discard') store.remove(key)
      }
      changes.emit()
    },
    clear() {
      for (const store of stores) store.remove(key)
      changes.emit()
    },
    subscribe(listener) {
      const onStorage = (event: StorageEvent) => {
        if (event.key === key || event.key === null) listener()
      }
      window.addEventListener('storage', onStorage)
      const unsubscribe = changes.subscribe(listener)
      return () => {
        window.removeEventListener('storage', onStorage)
        unsubscribe()
      }
    },
  }
}

/** Stores for a value that belongs to one window and also initializes the next window. */
export const perWindow: PersistedOptions = { stores: [windowStore, deviceStore] }

function parseStored<Value>(text: string | null, schema: z.ZodType<Value>): { value: Value } | undefined {
  if (text === null) return undefined
  const plain = schema.safeParse(text)
  if (plain.success) return { value: plain.data }
  try {
    const { success, data } = schema.safeParse(JSON.parse(text))
    return success ? { value: data } : undefined
  } catch {
    return undefined // in an unknown format
  }
}
