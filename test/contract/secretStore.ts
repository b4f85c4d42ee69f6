import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxSecretCharacters, type SecretStore } from '#platform/secrets/secretStore.ts'

export type StoreUnderTest = {
  store: SecretStore
  /** Opens another store for the same secrets, as after a restart. */
  again(): SecretStore
  close(): Promise<void>
}

export function secretStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`the ${name}`, () => {
    let under: StoreUnderTest
    let store: SecretStore

    beforeAll(async () => {
      under = await makeStore()
      store = under.store
    })
    afterAll(() => under?.close())

    test('reports its availability and description', async () => {
      expect(await store.fault()).toBeUndefined()
      expect(store.detail).toMatch(/^[A-Z].*\.$/)
    })

    test('returns undefined for a name that was never written', async () => {
      expect(await store.read('never')).toBeUndefined()
      await expect(store.remove('never')).resolves.toBeUndefined()
    })

    test('returns what was written, including after a restart', async () => {
      await store.write('one', 'first')
      await store.write('two', '{"with":"quotes \\" and \\\\"}')
      expect(await store.read('one')).toBe('first')
      expect(await under.again().read('two')).toBe('{"with":"quotes \\" and \\\\"}')
    })

    test('replaces only the written entry', async () => {
      await store.write('one', 'first')
      await store.write('two', 'second')
      await store.write('one', 'third')
      expect(await store.read('one')).toBe('third')
      expect(await store.read('two')).toBe('second')
    })

    test('removes one entry and keeps the others', async () => {
      await store.write('one', 'first')
      await store.write('two', 'second')
      await store.remove('one')
      expect(await store.read('one')).toBeUndefined()
      expect(await store.read('two')).toBe('second')
      expect(await under.again().read('one')).toBeUndefined()
    })

    test('stores a text of the maximum length', async () => {
      const long = 'x'.repeat(maxSecretCharacters)
      await store.write('long', long)
      expect(await store.read('long')).toBe(long)
    })

    test('loses no concurrent writes', async () => {
      const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`)
      await Promise.all(names.map((value) => store.write(value, `value of ${value}`)))
      expect(await Promise.all(names.map((it) => store.read(it)))).toEqual(names.map((it) => `value of ${it}`))
    })

    test('returns undefined for names of JavaScript properties', async () => {
      for (const key of ['__proto__', 'constructor', 'toString']) expect(await store.read(key)).toBeUndefined()
    })
  })
}
