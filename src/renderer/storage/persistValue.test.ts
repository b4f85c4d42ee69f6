import { expect, test } from 'vitest'
import { z } from 'zod'
import { memoryStorage } from '#test/support/fakes/memoryStorage.ts'
import { persistValue } from './persistValue.ts'
import { createTextStore } from './textStore.ts'

const Sizes = z.object({ width: z.number() })
const initial = { width: 200 }

function forbidden(): Storage {
  throw new DOMException('denied', 'SecurityError')
}

test('persists a value across page loads and returns the same object until it changes', () => {
  const storage = memoryStorage()
  const open = () => persistValue('sizes', Sizes, initial, { stores: [createTextStore(() => storage)] })
  const first = open()
  expect(first.read()).toBe(initial)
  first.write({ width: 300 })
  expect(first.read()).toEqual({ width: 300 })
  expect(first.read()).toBe(first.read())
  expect(open().read()).toEqual({ width: 300 })
  first.clear()
  expect(open().read()).toBe(initial)
})

const full = memoryStorage(4)

test.each([
  ['full', () => full],
  ['forbidden', forbidden],
])('a %s store keeps values in memory until the page unloads', (_, open) => {
  const text = createTextStore(open)
  const store = persistValue('sizes', Sizes, initial, { stores: [text] })
  store.write({ width: 300 })
  expect(store.read()).toEqual({ width: 300 })
  expect(text.set('sizes', '{"width":1}')).toBe(false)
  expect(text.keys()).toEqual(['sizes'])
  expect(store.read()).toEqual({ width: 1 })
  store.clear()
  expect(store.read()).toBe(initial)
  expect(persistValue('sizes', Sizes, initial, { stores: [text] }).read()).toBe(initial)
})

test('removes the older value instead if a refused write is discarded', () => {
  const storage = memoryStorage(20)
  const stores = [createTextStore(() => storage)]
  const store = persistValue('sizes', z.string(), 'none', { stores, onRefusal: 'discard' })
  store.write('short')
  expect(storage.getItem('sizes')).toBe('short')
  store.write('long'.repeat(10))
  expect(store.read()).toBe('none')
  expect(storage.getItem('sizes')).toBeNull()
})

test('ignores a stored value that fails schema validation', () => {
  const storage = memoryStorage()
  const stores = [createTextStore(() => storage)]
  for (const text of ['no JSON', '{"width":"wide"}', 'null', '[]']) {
    storage.setItem('sizes', text)
    expect(persistValue('sizes', Sizes, initial, { stores }).read()).toBe(initial)
  }
})

test('stores strings unchanged', () => {
  const storage = memoryStorage()
  const store = persistValue('theme', z.enum(['light', 'dark', 'system']), 'system', {
    stores: [createTextStore(() => storage)],
  })
  store.write('dark')
  expect(storage.getItem('theme')).toBe('dark')
  expect(store.read()).toBe('dark')
})

test('reads from the first store with a valid value and writes to every store', () => {
  const [ours, shared] = [memoryStorage(), memoryStorage()]
  const stores = [createTextStore(() => ours), createTextStore(() => shared)]
  shared.setItem('sizes', '{"width":5}')
  ours.setItem('sizes', 'no JSON')
  const store = persistValue('sizes', Sizes, initial, { stores })
  expect(store.read()).toEqual({ width: 5 })
  store.write({ width: 6 })
  shared.setItem('sizes', '{"width":7}')
  expect(store.read()).toEqual({ width: 6 })
})
