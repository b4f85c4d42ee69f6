import { useSyncExternalStore } from 'react'

const storageKey = 'steward.terminal.fontSize'
const changed = 'steward:terminal-font-size'

export const fontSizes = { smallest: 8, usual: 13, largest: 32 } as const

/** One size for all terminals, in pixels, kept for the next time. */
export function useFontSize(): number {
  return useSyncExternalStore(subscribe, readFontSize)
}

export function readFontSize(): number {
  return withinLimits(Number.parseInt(localStorage.getItem(storageKey) ?? '', 10))
}

export function changeFontSize(step: 'larger' | 'smaller' | 'usual'): void {
  const next = step === 'usual' ? fontSizes.usual : readFontSize() + (step === 'larger' ? 1 : -1)
  localStorage.setItem(storageKey, String(withinLimits(next)))
  window.dispatchEvent(new Event(changed))
}

export function withinLimits(size: number): number {
  if (!Number.isFinite(size)) return fontSizes.usual
  return Math.min(fontSizes.largest, Math.max(fontSizes.smallest, size))
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener)
  window.addEventListener('storage', listener)
  return () => {
    window.removeEventListener(changed, listener)
    window.removeEventListener('storage', listener)
  }
}
