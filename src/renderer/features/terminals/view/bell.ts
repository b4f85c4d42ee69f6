import { useEffect, useState } from 'react'
import type { TerminalPreferences } from './preferences/terminalPreferences.ts'

const changed = 'steward:terminal-bell'

type BellChange = { terminalId: string; rang: boolean }

/** Minimum interval between sounds or notifications of a bell. */
const minBellIntervalMs = 1_000
const tone = { hertz: 660, seconds: 0.14, loudness: 0.08 } as const

export type Bell = { ring(): void }

type BellOptions = { terminalId: string; label: () => string; preferences: () => TerminalPreferences }

export function createBell({ terminalId, label, preferences }: BellOptions): Bell {
  let lastMs = Number.NEGATIVE_INFINITY
  return {
    ring() {
      const { bellMark, bellSound, bellNotification } = preferences()
      if (bellMark) tell({ terminalId, rang: true })
      if (performance.now() - lastMs < minBellIntervalMs) return
      lastMs = performance.now()
      if (bellSound) void playBell()
      if (bellNotification && document.hidden) showNotification(terminalId, label())
    },
  }
}

export function clearBell(terminalId: string): void {
  tell({ terminalId, rang: false })
}

/** Whether the terminal's bell rang since the user last viewed it. */
export function useBell(terminalId: string): boolean {
  const [rings, setRings] = useState(false)
  useEffect(() => {
    const follow = (event: Event) => {
      const { detail } = event as CustomEvent<BellChange> // only dispatched by `tell`
      if (detail.terminalId === terminalId) setRings(detail.rang)
    }
    window.addEventListener(changed, follow)
    return () => window.removeEventListener(changed, follow)
  }, [terminalId])
  return rings
}

export function areNotificationsAllowed(): boolean {
  return 'Notification' in window && Notification.permission === 'granted'
}

/** Requests permission to show notifications. @returns false if the user or the browser denied it */
export async function allowNotifications(): Promise<boolean> {
  if (!('Notification' in window)) return false
  return (await Notification.requestPermission()) === 'granted'
}

function tell(detail: BellChange): void {
  window.dispatchEvent(new CustomEvent(changed, { detail }))
}

async function playBell(): Promise<void> {
  const audio = new AudioContext()
  const loudness = new GainNode(audio, { gain: tone.loudness })
  const source = new OscillatorNode(audio, { frequency: tone.hertz })
  source.connect(loudness).connect(audio.destination)
  loudness.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + tone.seconds)
  source.addEventListener('ended', () => void audio.close(), { once: true })
  source.start()
  source.stop(audio.currentTime + tone.seconds)
}

function showNotification(terminalId: string, label: string): void {
  if (!areNotificationsAllowed()) return
  const notification = new Notification(label, { body: 'The bell rang.', tag: terminalId, silent: true })
  notification.addEventListener('click', () => window.focus())
}
