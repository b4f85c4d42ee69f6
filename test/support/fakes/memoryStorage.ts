/** In-memory `Storage`. @param maxCharacters quota. Longer texts exceed it */
export function memoryStorage(maxCharacters = Number.POSITIVE_INFINITY): Storage {
  const texts = new Map<string, string>()
  return {
    get length() {
      return texts.size
    },
    key: (index) => [...texts.keys()][index] ?? null,
    getItem: (key) => texts.get(key) ?? null,
    setItem(key, text) {
      if (text.length > maxCharacters) throw new DOMException('full', 'QuotaExceededError')
      texts.set(key, text)
    },
    removeItem: (key) => void texts.delete(key),
    clear: () => texts.clear(),
  }
}
