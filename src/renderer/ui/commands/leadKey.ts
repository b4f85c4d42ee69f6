import { type KeyPress, matches, type Shortcut } from './shortcuts.ts'

/** Timeout of a key sequence, in milliseconds. */
const patienceMs = 1_500

export type LeadKey = {
  /** The lead that was pressed just before, if any; it is taken. */
  take(atMs: number): string | undefined
  /** Remembers a key that some of the shortcuts begin with. @returns whether it is one */
  keep(press: KeyPress, of: { shortcuts: readonly Shortcut[]; atMs: number }): boolean
}

/** Follows the first key of shortcuts that are pressed one key after the other. */
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
      pending = lead === undefined ? undefined : { key: lead, untilMs: atMs + patienceMs }
      return pending !== undefined
    },
  }
}

function toPlainShortcut(key: string): Shortcut {
  return { key, ctrl: false, meta: false, alt: false, shift: false }
}
