import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryStorage } from '#test/support/fakes/memoryStorage.ts'
import { goToSection, rememberAddress } from './useSection.ts'

const origin = 'http://127.0.0.1:4000/'
const location = { hash: '' }

beforeEach(() => vi.stubGlobal('window', { location, sessionStorage: memoryStorage() }))
afterEach(() => void vi.unstubAllGlobals())

function follow(hash: string): void {
  rememberAddress({ oldURL: origin + location.hash, newURL: origin + hash })
  location.hash = hash
}
function open(section: string): string {
  const before = location.hash
  goToSection(section)
  rememberAddress({ oldURL: origin + before, newURL: origin + location.hash })
  return location.hash
}

test('reopens a section where the user left it with its filters', () => {
  follow('#/chat/first')
  follow('#/chat/second')
  expect(open('domains')).toBe('#/domains')
  follow('#/domains/search?q=atlas')
  expect(open('chat')).toBe('#/chat/second')
  expect(open('chat')).toBe('#/chat/second')
  expect(open('domains')).toBe('#/domains/search?q=atlas')
})
