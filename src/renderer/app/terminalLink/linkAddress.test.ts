import { expect, test } from 'vitest'
import type { SandboxId } from '../../../shared/ids.ts'
import { keptToken, linkedSandbox } from './linkAddress.ts'

const id = '0123456789abcdef0123456789abcdef' as SandboxId

test('knows the sandbox of a link, and no other address', () => {
  expect(linkedSandbox(new URL(`http://127.0.0.1/terminal/${id}`))).toBe(id)
  expect(linkedSandbox(new URL(`http://127.0.0.1/terminal/${id}/`))).toBe(id)
  expect(linkedSandbox(new URL('http://127.0.0.1/terminal/../etc'))).toBeUndefined()
  expect(linkedSandbox(new URL(`http://127.0.0.1/terminal/${id.toUpperCase()}`))).toBeUndefined()
})

test('keeps the token of a link for a reload, and a newer one instead of it', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
  expect(keptToken(storage, id, undefined)).toBeUndefined()
  expect(keptToken(storage, id, 'first')).toBe('first')
  expect(keptToken(storage, id, undefined)).toBe('first')
  expect(keptToken(storage, id, 'second')).toBe('second')
  expect(keptToken(storage, 'f'.repeat(32) as SandboxId, undefined)).toBeUndefined()
})
