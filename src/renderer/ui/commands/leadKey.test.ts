import { expect, test } from 'vitest'
import { createLeadKey } from './leadKey.ts'
import { type KeyPress, parseShortcuts } from './shortcuts.ts'

const shortcuts = parseShortcuts('g t, g w, mod+k', { apple: false })

function press(key: string, modifiers: Partial<KeyPress> = {}): KeyPress {
  const code = `Key${key.toUpperCase()}`
  return { key, code, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers }
}

test('applies a lead key once to the next key', () => {
  const lead = createLeadKey()
  expect(lead.keep(press('g'), { shortcuts, atMs: 1000 })).toBe(true)
  expect(lead.take(1200)).toBe('g')
  expect(lead.take(1201)).toBeUndefined()
})

test('accepts only the first key of a shortcut, pressed without modifiers', () => {
  const lead = createLeadKey()
  expect(lead.keep(press('t'), { shortcuts, atMs: 0 })).toBe(false)
  expect(lead.keep(press('g', { ctrlKey: true }), { shortcuts, atMs: 0 })).toBe(false)
  expect(lead.keep(press('g'), { shortcuts: [], atMs: 0 })).toBe(false)
  expect(lead.take(1)).toBeUndefined()
})

test('discards the lead key after a timeout', () => {
  const lead = createLeadKey()
  lead.keep(press('g'), { shortcuts, atMs: 0 })
  expect(lead.take(1_501)).toBeUndefined()
})
