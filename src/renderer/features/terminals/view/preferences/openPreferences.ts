const request = 'steward:open-terminal-preferences'

/** Opens the preferences from the terminal's menu or a shortcut. */
export function openPreferences(): void {
  window.dispatchEvent(new Event(request))
}

export function onOpenPreferences(listener: () => void): () => void {
  window.addEventListener(request, listener)
  return () => window.removeEventListener(request, listener)
}
