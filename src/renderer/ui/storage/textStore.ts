/** Text by key. No operation throws: text that the browser refuses lives as long as the page. */
export type TextStore = {
  get(key: string): string | null
  /** @returns whether the text also outlives the page */
  set(key: string, text: string): boolean
  remove(key: string): void
  keys(): string[]
}

/** @param open throws where the browser forbids storage, e.g. with cookies blocked */
export function createTextStore(open: () => Storage): TextStore {
  const refused = new Map<string, string>()

  function attempt<Result>(use: (storage: Storage) => Result, otherwise: Result): Result {
    try {
      return use(open())
    } catch {
      return otherwise // full or forbidden
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

/** Shared by all windows of this origin, beyond their life. */
export const deviceStore = createTextStore(() => window.localStorage)

/** Of this window alone: a reload finds it again. */
export const windowStore = createTextStore(() => window.sessionStorage)
