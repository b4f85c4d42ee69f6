import { expect, test } from 'vitest'
import { foundSandboxRepository } from '#service/sandboxes/foundSandboxRepository.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('acc_ada')
const [existing, removed, other] = [parseId('a'), parseId('b'), parseId('c')]

/** Marks of sandboxes whose files are being deleted, on both engines of the store. */
describeStores('sandbox removals', (engine) => {
  test('a sandbox is marked until its files are deleted, also by 20 concurrent requests', async () => {
    const { store } = await openServiceStore(engine)
    await Promise.all(
      Array.from({ length: 20 }, (_, atMs) =>
        store.write((tx) => foundSandboxRepository.markRemoval(tx, removed, atMs)),
      ),
    )
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([removed])
    expect(await foundSandboxRepository.isMarked(store.read, removed)).toBe(true)
    expect(await foundSandboxRepository.isMarked(store.read, other)).toBe(false)
    await Promise.all(
      Array.from({ length: 20 }, () => store.write((tx) => foundSandboxRepository.unmarkRemoval(tx, removed))),
    )
    expect(await foundSandboxRepository.listMarked(store.read)).toEqual([])
  })

  test('sandboxes with a row or a mark are known', async () => {
    const { store } = await openServiceStore(engine)
    await seedAccounts(store, ada)
    await seedSandbox(store, ada, existing)
    await store.write(async (tx) => {
      await foundSandboxRepository.markRemoval(tx, removed, 1)
      await foundSandboxRepository.markRemoval(tx, existing, 1)
    })
    expect(await foundSandboxRepository.listRecorded(store.read)).toEqual(new Set([existing, removed]))
  })

  test('the database has an id that stays', async () => {
    const { store } = await openServiceStore(engine)
    const id = await foundSandboxRepository.getDatabaseId(store.read)
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(await foundSandboxRepository.getDatabaseId(store.read)).toBe(id)
  })
})

function parseId(digit: string): SandboxId {
  return SandboxId.parse(digit.repeat(32))
}
