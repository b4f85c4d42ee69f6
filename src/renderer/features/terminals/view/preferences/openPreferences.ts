const asked = 'steward:open-terminal-preferences'

/** From a key that a terminal took, or its menu. */
export function openPreferences(): void {
  window.dispatchEvent(new Event(asked))
}

export function onOpenPreferences(listener: () => void): () => void {
  window.addEventListener(asked, listener)
  return () => window.removeEventListener(asked, listener)
}
