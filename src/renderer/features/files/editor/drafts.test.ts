import { expect, test } from 'vitest'
import { createTextStore } from '#renderer/storage/textStore.ts'
import { SandboxId } from '#shared/ids.ts'
import { memoryStorage } from '#test/support/fakes/memoryStorage.ts'
import { forgetOtherUploads, transferNotes } from '../transfers/storedTransfers.ts'
import { forgetOtherDrafts, openDrafts } from './drafts.ts'

const [one, other] = ['a', 'b'].map((digit) => SandboxId.parse(digit.repeat(32))) as [SandboxId, SandboxId]

test('stores unsaved text separately for each sandbox', () => {
  const storage = memoryStorage()
  const store = createTextStore(() => storage)
  const mine = openDrafts(one, store)
  mine.keep('/root/b.txt', { text: 'new', version: 'v1' })
  mine.keep('/root/a: b.txt', { text: '', version: 'v2' })
  expect(mine.paths()).toEqual(['/root/a: b.txt', '/root/b.txt'])
  expect(openDrafts(one, store).read('/root/b.txt')).toEqual({ text: 'new', version: 'v1' })
  expect(openDrafts(other, store).paths()).toEqual([])
  mine.forget('/root/b.txt')
  expect(mine.read('/root/b.txt')).toBeUndefined()
})

test('removes the older draft when a new one exceeds the quota and ignores invalid drafts', () => {
  const storage = memoryStorage(60)
  const store = createTextStore(() => storage)
  const mine = openDrafts(one, store)
  mine.keep('/a', { text: 'short', version: 'v' })
  mine.keep('/a', { text: 'long'.repeat(100), version: 'v' })
  expect(mine.read('/a')).toBeUndefined()
  storage.setItem(`steward.draft.${one}:/b`, 'no JSON')
  expect(mine.read('/b')).toBeUndefined()
})

test('removes only the drafts of deleted sandboxes', () => {
  const storage = memoryStorage()
  const store = createTextStore(() => storage)
  const upload = {
    id: 'u1',
    path: '/root/a',
    size: 1,
    modifiedAtMs: 1,
    sent: 0,
    uploadId: `upl_${'0'.repeat(24)}`,
    replace: false,
  }
  for (const id of [one, other]) {
    openDrafts(id, store).keep('/root/a', { text: 'new', version: 'v1' })
    transferNotes(id, store).keep(upload)
  }
  storage.setItem('steward.theme', 'dark')
  forgetOtherDrafts([other], store)
  forgetOtherUploads([other], store)
  expect(openDrafts(one, store).paths()).toEqual([])
  expect(transferNotes(one, store).read()).toEqual([])
  expect(openDrafts(other, store).paths()).toEqual(['/root/a'])
  expect(transferNotes(other, store).read()).toEqual([upload])
  expect(storage.getItem('steward.theme')).toBe('dark')
})
