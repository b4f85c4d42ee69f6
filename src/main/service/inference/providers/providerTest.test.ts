import { afterAll, beforeAll, expect, test } from 'vitest'
import { families, familyIds } from '#shared/contract/families.ts'
import { catalogueFile } from '#test/support/models/gatewayWorld.ts'
import { createProviderServer, type ProviderServer } from '#test/support/models/providerServer.ts'
import { readModelCatalogue } from '../catalogue/modelCatalogue.ts'
import { createProviderTest, type ProviderTest } from './providerTest.ts'

const { kinds } = readModelCatalogue(catalogueFile.pathname)
const wrong = 'sk-wrong-5ecret-key'
let providers: ProviderServer
let tests: ProviderTest
let overrides: { baseUrl?: string; apiKey?: string } | undefined

beforeAll(async () => {
  providers = await createProviderServer()
  tests = createProviderTest({
    kinds,
    findProvider: ({ providerId }) => overrides && { ...providers.providerOf(providerId), ...overrides },
    answerMs: 2_000,
  })
})
afterAll(async () => {
  tests.close()
  await providers.close()
})

test.each(familyIds)('accepts or rejects the key of provider %s without echoing it', async (family) => {
  overrides = {}
  const { signal } = new AbortController()
  expect(await tests.test(family, signal)).toMatchObject({ outcome: 'accepted' })
  overrides = { apiKey: wrong }
  const refused = await tests.test(family, signal)
  expect(refused).toMatchObject({ outcome: 'refused', detail: expect.stringContaining(families[family].title) })
  expect(refused.detail).not.toContain(wrong)
})

test('distinguishes a missing key from an unreachable provider and an unexpected response', async () => {
  const { signal } = new AbortController()
  overrides = undefined
  await expect(tests.test('a', signal)).rejects.toMatchObject({ code: 'inference/unconfigured' })
  overrides = { baseUrl: 'http://127.0.0.1:9' }
  expect(await tests.test('a', signal)).toMatchObject({ outcome: 'unreachable' })
  overrides = { baseUrl: providers.providerOf('b').baseUrl }
  expect(await tests.test('a', signal)).toMatchObject({ outcome: 'unclear' })
})
