import { expect, test } from 'vitest'
import { createCreditHistory } from '#service/credits/creditHistory.ts'
import { createHistoryRepository, type HistoryFilters } from '#service/credits/historyRepository.ts'
import { AccountId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const [ada, bob] = ['a', 'b'].map((letter) => AccountId.parse(letter.repeat(32))) as [AccountId, AccountId]
const dayMs = 86_400_000
const firstDay = 20_000

/** History and sums of the credit journal, on both engines of the store. */
describeStores('credit history', (engine) => {
  test('lists and counts entries, newest first, with balances and refunds', async () => {
    const { list, count, repository } = await open(engine)
    expect(await list({})).toEqual(['refund', 'sent', 'small model', 'large model', 'grant'])
    expect(await count({})).toBe(5)
    expect(await repository.newest()).toBe(6)
    expect(await repository.entries(ada)).toBe(5)
    expect(await repository.entries(AccountId.parse('c'.repeat(32)))).toBe(0)
    const [large] = await repository.stretch(ada, { model: 'gpt-large' }, { ...whole, limit: 1, offset: 0 })
    expect(large).toEqual({
      sequence: 2,
      id: 'large model',
      type: 'inference',
      debitAccount: ada,
      creditAccount: 'service:revenue',
      amount: 300,
      debitBalance: 700,
      creditBalance: 300,
      description: 'gpt-large',
      details: '{"tokens":1}',
      refundOf: null,
      atMs: firstDay * dayMs + 2,
      keyId: 'key_1',
      refunded: 100,
    })
  })

  test('applies each filter, and all together', async () => {
    const { list, count } = await open(engine)
    const expectations: [HistoryFilters, string[]][] = [
      [{ type: 'grant' }, ['grant']],
      [{ type: 'inference' }, ['small model', 'large model']],
      [{ type: 'transfer_out' }, ['sent']],
      [{ type: 'transfer_in' }, []],
      [{ keyId: 'key_1' }, ['large model']],
      [{ model: 'gpt-small' }, ['small model']],
      [{ fromMs: (firstDay + 1) * dayMs }, ['refund', 'sent', 'small model']],
      [{ beforeMs: (firstDay + 1) * dayMs }, ['large model', 'grant']],
      [{ text: 'LARGE' }, ['large model']],
      [{ text: '100%' }, ['sent']],
      [{ text: '%' }, ['sent']],
      [{ text: '_' }, []],
      [{ text: 'small model' }, ['small model']],
      [{ type: 'inference', model: 'gpt-small', keyId: 'key_2', text: 'gpt' }, ['small model']],
      [{ type: 'inference', model: 'gpt-small', keyId: 'key_1', text: 'gpt' }, []],
    ]
    for (const [filters, ids] of expectations) {
      expect([filters, await list(filters), await count(filters)]).toEqual([filters, ids, ids.length])
    }
  })

  test('only ASCII letters match in either case', async () => {
    const { list } = await open(engine)
    expect(await list({ text: 'ZOË' })).toEqual([])
    expect(await list({ text: 'zOë' })).toEqual(['sent'])
  })

  test('a filter with U+0000 matches nothing', async () => {
    const { list, count } = await open(engine)
    for (const filters of [{ text: 'gpt\0' }, { model: '\0' }, { keyId: 'key_1\0' }]) {
      expect([await list(filters), await count(filters)]).toEqual([[], 0])
    }
  })

  test('limits a page to a range of sequences', async () => {
    const { repository } = await open(engine)
    const page = { above: 1, below: 6, limit: 2, offset: 1 }
    expect((await repository.stretch(ada, {}, page)).map(({ id }) => id)).toEqual(['small model', 'large model'])
    expect(await repository.count(ada, {}, { above: 1, below: 6 })).toBe(3)
  })

  test('pages and exports the same entries', async () => {
    const { repository } = await open(engine)
    const history = createCreditHistory(repository)
    const { transfers, total } = await history.page({ accountId: ada, filters: {}, limit: 2, offset: 1 })
    expect([transfers.map(({ id }) => id), total]).toEqual([['sent', 'small model'], 5])
    const exported: string[] = []
    for await (const rows of history.rows({ accountId: bob, filters: {} })) exported.push(...rows.map(({ id }) => id))
    expect(exported).toEqual(['sent', 'grant of bob'])
  })

  test('sums by day, model and key, with groups without a value first', async () => {
    const { repository } = await open(engine)
    const days = { from: firstDay, to: firstDay + 1 }
    const sum = (fields: object) => ({
      day: null,
      model: null,
      keyId: null,
      transfers: 1,
      debits: 0,
      credits: 0,
      ...fields,
    })
    expect(await repository.sums(ada, days, 'model')).toHaveLength(5)
    expect(await repository.sums(ada, days, 'model')).toEqual(
      expect.arrayContaining([
        sum({ type: 'grant', credits: 1_000 }),
        sum({ type: 'inference', model: 'gpt-large', debits: 300 }),
        sum({ type: 'inference', model: 'gpt-small', debits: 200 }),
        sum({ type: 'refund', model: 'gpt-large', credits: 100 }),
        sum({ type: 'transfer', debits: 50 }),
      ]),
    )
    expect((await repository.sums(ada, days, 'day,model')).map(({ day, model }) => [day, model])).toEqual([
      [firstDay, null],
      [firstDay, 'gpt-large'],
      [firstDay + 1, null],
      [firstDay + 1, 'gpt-large'],
      [firstDay + 1, 'gpt-small'],
    ])
    expect((await repository.sums(ada, days, 'key')).map(({ keyId }) => keyId)).toEqual([
      ...[null, null, 'key_1', 'key_1', 'key_2'],
    ])
    expect(await repository.sums(ada, { from: firstDay + 2, to: firstDay + 9 }, 'day')).toEqual([])
  })
})

const whole = { above: 0, below: 2 ** 53 }

type Entry = {
  id: string
  type: string
  debitAccount: string
  creditAccount: string
  amount: number
  debitBalance: number
  creditBalance: number
  description: string
  details: string | null
  keyId: string | null
  refundOf: string | null
  atMs: number
}
const addAccount = defineStatement<Params<'id' | 'entries'>>(
  `INSERT INTO credit_accounts (id, kind, debits, credits, entries) VALUES (@id, 'user', 0, 10000, @entries)`,
)
const addEntry = defineStatement<Params<keyof Entry>>(
  `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
     description, details, key_id, refund_of, at_ms)
   VALUES (@id, @type, @debitAccount, @creditAccount, @amount, @debitBalance, @creditBalance, @description, @details,
     @keyId, @refundOf, @atMs)`,
)

const charge = { type: 'inference', creditAccount: 'service:revenue', debitBalance: 700, creditBalance: 300 }
const base = { debitAccount: ada, debitBalance: 0, creditBalance: 0, details: null, keyId: null, refundOf: null }
const later = (firstDay + 1) * dayMs
const grant = { ...base, type: 'grant', debitAccount: 'service:issued', description: 'First credits' }
const journal: Entry[] = [
  { ...grant, id: 'grant', creditAccount: ada, amount: 1_000, atMs: firstDay * dayMs + 1 },
  {
    ...{ ...base, ...charge, id: 'large model', amount: 300, description: 'gpt-large', keyId: 'key_1' },
    ...{ details: '{"tokens":1}', atMs: firstDay * dayMs + 2 },
  },
  { ...base, ...charge, id: 'small model', amount: 200, description: 'gpt-small', keyId: 'key_2', atMs: later },
  { ...grant, id: 'grant of bob', creditAccount: bob, amount: 1_000, atMs: later },
  { ...base, type: 'transfer', id: 'sent', creditAccount: bob, amount: 50, description: '100% for Zoë', atMs: later },
  {
    ...{ ...base, type: 'refund', id: 'refund', debitAccount: 'service:revenue', creditAccount: ada, amount: 100 },
    ...{ description: 'Refund', refundOf: 'large model', atMs: later },
  },
]

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  await store.write(async (tx) => {
    await tx.run(addAccount, { id: ada, entries: 5 })
    await tx.run(addAccount, { id: bob, entries: 2 })
    for (const entry of journal) await tx.run(addEntry, entry)
  })
  const repository = createHistoryRepository(store.read)
  const list = async (filters: HistoryFilters) =>
    (await repository.stretch(ada, filters, { ...whole, limit: 100, offset: 0 })).map(({ id }) => id)
  return { repository, list, count: (filters: HistoryFilters) => repository.count(ada, filters, whole) }
}
