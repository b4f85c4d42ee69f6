import { expect, test } from 'vitest'
import type { SandboxId } from '#shared/ids.ts'
import { memoryStorage } from '#test/support/fakes/memoryStorage.ts'
import { createTextStore } from '../../storage/textStore.ts'
import { readLinkedSandbox, storeToken } from './linkAddress.ts'

const id = '0123456789abcdef0123456789abcdef' as SandboxId

test('reads the sandbox from a terminal link only', () => {
  expect(readLinkedSandbox(new URL(`http://127.0.0.1/terminal/${id}`))).toBe(id)
  expect(readLinkedSandbox(new URL(`http://127.0.0.1/terminal/${id}/`))).toBe(id)
  expect(readLinkedSandbox(new URL('http://127.0.0.1/terminal/../etc'))).toBeUndefined()
  expect(readLinkedSandbox(new URL(`http://127.0.0.1/terminal/${id.toUpperCase()}`))).toBeUndefined()
})

test('stores the token of a link across a reload and replaces it with a newer one', () => {
  const storage = memoryStorage()
  const store = createTextStore(() => storage)
  expect(storeToken(store, id, undefined)).toBeUndefined()
  expect(storeToken(store, id, 'first')).toBe('first')
  expect(storeToken(store, id, undefined)).toBe('first')
  expect(storeToken(store, id, 'second')).toBe('second')
  expect(storeToken(store, 'f'.repeat(32) as SandboxId, undefined)).toBeUndefined()
})
