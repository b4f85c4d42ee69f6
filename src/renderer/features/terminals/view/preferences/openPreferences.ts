const asked = 'steward:open-terminal-preferences'

/** Opens the preferences from the terminal's menu or a shortcut. */
export function openPreferences(): void {
  window.dispatchEvent(new Event(asked))
}

export function onOpenPreferences(listener: () => void): () => void {
  window.addEventListener(asked, listener)
  return () => window.removeEventListener(asked, listener)
}
