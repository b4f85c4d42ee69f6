/** Text store by key. Never throws: if the browser rejects a write, the text is held in memory. */
export type TextStore = {
  get(key: string): string | null
  /** @returns whether the text survives a reload */
  set(key: string, text: string): boolean
  remove(key: string): void
  keys(): string[]
}

/** @param open throws if the browser denies storage, for example if cookies are blocked */
export function createTextStore(open: () => Storage): TextStore {
  const refused = new Map<string, string>()

  function attempt<Result>(use: (storage: Storage) => Result, otherwise: Result): Result {
    try {
      return use(open())
    } catch {
      return otherwise // full or denied
    }
  }

  return {
    get: (key) => refused.get(key) ?? attempt((storage) => storage.getItem(key), null),
    set(key, text) {
      const isStored = attempt((storage) => {
        storage.setItem(key, text)
        return true
      }, false)
      if (isStored) refused.delete(key)
      else refused.set(key, text)
      return isStored
    },
    remove(key) {
      refused.delete(key)
      attempt((storage) => storage.removeItem(key), undefined)
    },
    keys() {
      const stored = attempt(
        (storage) => Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? ''),
        [],
      )
      return [...new Set([...stored, ...refused.keys()])]
    },
  }
}

/** Persistent store shared by all windows of this origin. */
export const deviceStore = createTextStore(() => window.localStorage)

/** Store of this window, which survives a reload. */
export const windowStore = createTextStore(() => window.sessionStorage)
