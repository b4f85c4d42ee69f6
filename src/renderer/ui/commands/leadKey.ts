import { type KeyPress, matches, type Shortcut } from './shortcuts.ts'

/** Timeout of a key sequence, in milliseconds. */
const timeoutMs = 1_500

export type LeadKey = {
  /** Removes and returns the pending lead key, if any. */
  take(atMs: number): string | undefined
  /** Records a key that starts a key sequence. @returns whether the key is a lead key */
  keep(press: KeyPress, of: { shortcuts: readonly Shortcut[]; atMs: number }): boolean
}

/** Tracks the first key of key sequences. */
export function createLeadKey(): LeadKey {
  let pending: { key: string; untilMs: number } | undefined
  return {
    take(atMs) {
      const key = pending !== undefined && atMs <= pending.untilMs ? pending.key : undefined
      pending = undefined
      return key
    },
    keep(press, { shortcuts, atMs }) {
      const lead = shortcuts.find(({ lead = '' }) => lead !== '' && matches(toPlainShortcut(lead), press))?.lead
      pending = lead === undefined ? undefined : { key: lead, untilMs: atMs + timeoutMs }
      return pending !== undefined
    },
  }
}

function toPlainShortcut(key: string): Shortcut {
  return { key, ctrl: false, meta: false, alt: false, shift: false }
}
