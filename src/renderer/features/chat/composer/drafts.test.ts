import { expect, test } from 'vitest'
import { createTextStore } from '#renderer/storage/textStore.ts'
import { memoryStorage } from '#test/support/fakes/memoryStorage.ts'
import { emptyDraft, readDraft, storeDraft } from './drafts.ts'

test('stores a draft per chat and removes an empty one', () => {
  const storage = memoryStorage()
  const store = createTextStore(() => storage)
  storeDraft('one', { text: 'Hello', attachments: [] }, store)
  expect(readDraft('one', store).text).toBe('Hello')
  expect(readDraft('two', store)).toEqual(emptyDraft)
  storeDraft('one', emptyDraft, store)
  expect(storage.length).toBe(0)
})

test('ignores an invalid draft and drops a draft that exceeds the quota', () => {
  const storage = memoryStorage(50)
  const store = createTextStore(() => storage)
  storage.setItem('steward.chat.draft.one', '{"text":7}')
  expect(readDraft('one', store)).toEqual(emptyDraft)
  storage.setItem('steward.chat.draft.one', '{"text":"old","attachments":[]}')
  storeDraft('one', { text: 'new'.repeat(20), attachments: [] }, store)
  expect(readDraft('one', store)).toEqual(emptyDraft)
})
