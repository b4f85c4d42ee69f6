import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxSecretCharacters, type SecretStore } from '#platform/secretStore.ts'

export type StoreUnderTest = {
  store: SecretStore
  /** Another one for the same secrets, as after a new start. */
  again(): SecretStore
  close(): Promise<void>
}

/** Contract of all secret stores. */
export function secretStoreContract(name: string, makeStore: () => Promise<StoreUnderTest>): void {
  describe(`the ${name}`, () => {
    let under: StoreUnderTest
    let store: SecretStore

    beforeAll(async () => {
      under = await makeStore()
      store = under.store
    })
    afterAll(() => under?.close())

    test('answers, and says what it is', async () => {
      expect(await store.fault()).toBeUndefined()
      expect(store.detail).toMatch(/^[A-Z].*\.$/)
    })

    test('has nothing under a name that was never written', async () => {
      expect(await store.read('never')).toBeUndefined()
      await expect(store.remove('never')).resolves.toBeUndefined()
    })

    test('gives back what was written, also after a new start', async () => {
      await store.write('one', 'first')
      await store.write('two', '{"with":"quotes \\" and \\\\"}')
      expect(await store.read('one')).toBe('first')
      expect(await under.again().read('two')).toBe('{"with":"quotes \\" and \\\\"}')
    })

    test('replaces what was there, and that alone', async () => {
      await store.write('one', 'first')
      await store.write('two', 'second')
      await store.write('one', 'third')
      expect(await store.read('one')).toBe('third')
      expect(await store.read('two')).toBe('second')
    })

    test('removes one, and keeps the others', async () => {
      await store.write('one', 'first')
      await store.write('two', 'second')
      await store.remove('one')
      expect(await store.read('one')).toBeUndefined()
      expect(await store.read('two')).toBe('second')
      expect(await under.again().read('one')).toBeUndefined()
    })

    test('keeps a text as long as one may be', async () => {
      const long = 'x'.repeat(maxSecretCharacters)
      await store.write('long', long)
      expect(await store.read('long')).toBe(long)
    })

    test('loses nothing of writes at the same time', async () => {
      const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`)
      await Promise.all(names.map((it) => store.write(it, `value of ${it}`)))
      expect(await Promise.all(names.map((it) => store.read(it)))).toEqual(names.map((it) => `value of ${it}`))
    })

    test('has no name that belongs to JavaScript', async () => {
      for (const key of ['__proto__', 'constructor', 'toString']) expect(await store.read(key)).toBeUndefined()
    })
  })
}
