import { expect, test } from 'vitest'
import { AccountId } from '#shared/ids.ts'
import { createResponseItems } from './responseItems.ts'

const [ada, eve] = ['acc_ada', 'acc_eve'].map((id) => AccountId.parse(id)) as [AccountId, AccountId]
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'sealed' }
const reference = (id: string) => ({ type: 'item_reference', id })

test('replaces an item reference only for the account of the item', () => {
  const items = createResponseItems({ now: () => 0 })
  items.forAccount(ada).store([reasoning, { type: 'no-id' }])
  const body = { model: 'm', input: [{ role: 'user', content: 'Hello' }, reference('rs_1'), { id: 'rs_1' }] }
  expect(items.forAccount(ada).resolve(body)).toEqual({
    model: 'm',
    input: [{ role: 'user', content: 'Hello' }, reasoning, reasoning],
  })
  expect(() => items.forAccount(eve).resolve(body)).toThrow('Unknown item id')
  const plain = { input: 'Hello' }
  expect(items.forAccount(ada).resolve(plain)).toBe(plain)
})

test('expires an item after its time to live', () => {
  let now = 0
  const items = createResponseItems({ now: () => now, limits: { ttlMs: 100 } })
  items.forAccount(ada).store([reasoning])
  now = 99
  expect(items.forAccount(ada).resolve({ input: [reference('rs_1')] }).input).toEqual([reasoning])
  now = 100
  expect(() => items.forAccount(ada).resolve({ input: [reference('rs_1')] })).toThrow('Unknown item id')
})

test('evicts the oldest items of the account or of the largest account', () => {
  const size = JSON.stringify({ id: 'a1' }).length
  const limits = { maxAccountBytes: 3 * size, maxBytes: 4 * size }
  const items = createResponseItems({ now: () => 0, limits })
  const isStored = (account: AccountId, id: string): boolean => {
    try {
      items.forAccount(account).resolve({ input: [reference(id)] })
      return true
    } catch {
      return false
    }
  }
  items.forAccount(ada).store(['a1', 'a2', 'a3', 'a4'].map((id) => ({ id })))
  expect(['a1', 'a2', 'a3', 'a4'].map((id) => isStored(ada, id))).toEqual([false, true, true, true])
  items.forAccount(eve).store([{ id: 'e1' }, { id: 'e2' }])
  expect(['a2', 'a3', 'a4'].map((id) => isStored(ada, id))).toEqual([false, true, true])
  expect(['e1', 'e2'].map((id) => isStored(eve, id))).toEqual([true, true])
})

test('rejects repeated references that would expand beyond the size limit', () => {
  const items = createResponseItems({ now: () => 0, limits: { maxAccountBytes: 2_000 } })
  items.forAccount(ada).store([{ id: 'rs_1', text: 'x'.repeat(1_000) }])
  const input = [reference('rs_1'), reference('rs_1')]
  expect(() => items.forAccount(ada).resolve({ input })).toThrow('The referenced items are too large.')
})
