import { expect, test } from 'vitest'
import { emptyDraft, keepDraft, keptDraft } from './drafts.ts'

function store(full = false) {
  const held = new Map<string, string>()
  return {
    held,
    getItem: (key: string) => held.get(key) ?? null,
    removeItem: (key: string) => void held.delete(key),
    setItem(key: string, value: string) {
      if (full) throw new Error('full')
      held.set(key, value)
    },
  }
}

test('each chat has a draft of its own, and an empty one is none', () => {
  const storage = store()
  keepDraft('one', { text: 'Hello', attachments: [] }, storage)
  expect(keptDraft('one', storage).text).toBe('Hello')
  expect(keptDraft('two', storage)).toEqual(emptyDraft)
  keepDraft('one', emptyDraft, storage)
  expect(storage.held.size).toBe(0)
})

test('what something else wrote is no draft, and where there is no room none is kept', () => {
  const storage = store()
  storage.held.set('steward.chat.draft.one', '{"text":7}')
  expect(keptDraft('one', storage)).toEqual(emptyDraft)
  const full = store(true)
  full.held.set('steward.chat.draft.one', '{"text":"old","attachments":[]}')
  keepDraft('one', { text: 'new', attachments: [] }, full)
  expect(keptDraft('one', full)).toEqual(emptyDraft)
})
