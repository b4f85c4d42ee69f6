import { expect, test } from 'vitest'
import { mapFamilies } from '#shared/contract/families.ts'
import type { ProviderKeyStore } from './providerKeyStore.ts'
import { createProviderKeys } from './providerKeys.ts'

function openKeys() {
  let ends: string | null = null
  const keyStore: ProviderKeyStore = {
    findKey: () => undefined,
    about: () => (ends === null ? null : { place: 'file', ends_with: ends, set_at: null, fault: null }),
    async store(_, key) {
      ends = key.slice(-4)
    },
    remove: async () => true,
    readAgain: async () => {},
    storage: async () => ({ kind: 'file', name: '', detail: '' }),
  }
  const none = { base_url: null, api_key: null }
  const events: string[] = []
  const keys = createProviderKeys({
    keyStore,
    configured: mapFamilies(() => none),
    notifyService: () => {},
    events: { publish: ({ type }) => void events.push(type) },
    recordActivity: () => {},
    now: () => Date.UTC(2026, 0, 1),
  })
  const catchRefusal = async (family: string) =>
    (await keys.list()).providers.find((it) => it.family === family)?.key_refused_at
  return { keys, events, refusedAt: catchRefusal }
}

test('a rejected provider key is marked until it is replaced or accepted', async () => {
  const { keys, events, refusedAt } = openKeys()
  await keys.set('a', 'sk-first-key')
  events.length = 0
  keys.learn('openai', true)
  expect(events).toEqual([])
  keys.learn('openai', false)
  keys.learn('openai', false)
  expect(events).toEqual(['providers.changed'])
  expect([await refusedAt('a'), await refusedAt('b')]).toEqual(['2026-01-01T00:00:00.000Z', null])
  keys.learn('openai', true)
  expect(await refusedAt('a')).toBeNull()
  keys.learn('openai', false)
  await keys.set('a', 'sk-other-key')
  expect(await refusedAt('a')).toBeNull()
})

test('a custom model server marks no provider key', async () => {
  const { keys, events } = openKeys()
  keys.learn('local:router', false)
  expect(events).toEqual([])
})
