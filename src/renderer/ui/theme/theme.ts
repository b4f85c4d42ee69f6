export type ThemeChoice = 'system' | 'light' | 'dark'
export type Theme = 'light' | 'dark'

const storageKey = 'steward.theme'
const changed = 'steward:theme'

export function readThemeChoice(): ThemeChoice {
  const kept = localStorage.getItem(storageKey)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, choice)
  applyTheme()
}

/** What is on the screen now. */
export function presentTheme(): Theme {
  const choice = readThemeChoice()
  if (choice !== 'system') return choice
  return systemPrefersDark().matches ? 'dark' : 'light'
}

/** Calls `listener` after each change: by this window, another window or the system. */
export function onThemeChange(listener: () => void): () => void {
  const fromOtherWindow = (event: StorageEvent) => {
    if (event.key === storageKey || event.key === null) applyTheme()
  }
  const system = systemPrefersDark()
  system.addEventListener('change', applyTheme)
  window.addEventListener('storage', fromOtherWindow)
  window.addEventListener(changed, listener)
  return () => {
    system.removeEventListener('change', applyTheme)
    window.removeEventListener('storage', fromOtherWindow)
    window.removeEventListener(changed, listener)
  }
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = presentTheme()
  window.dispatchEvent(new Event(changed))
}

function systemPrefersDark(): MediaQueryList {
  return window.matchMedia('(prefers-color-scheme: dark)')
}
