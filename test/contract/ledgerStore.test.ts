import { expect, test } from 'vitest'
import type { KeyLimit } from '#service/credits/keyLimits.ts'
import type { LedgerStore } from '#service/credits/ledgerStore.ts'
import { AppError } from '#shared/appError.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import { defineStatement, type Store } from '#storage/store.ts'
import type { StoredRow } from '#storage/table.ts'
import { createSeededRandom } from '../simulation/random.ts'
import { openServiceLedger, openServiceStore } from '../support/fixtures/serviceStores.ts'
import { describeStores, type OpenedStore, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const hourMs = 3_600_000
const noonMs = Date.UTC(2026, 10, 22, 12)
const ada = AccountId.parse('acct_ada')
const bob = AccountId.parse('acct_bob')
const sandboxId = SandboxId.parse('ab'.repeat(16))
const usd = (amount: number) => toMicroUsd(Math.round(amount * 1_000_000))
const small: KeyLimit = { id: 'key_small', dailyLimit: usd(2) }
const model = 'gpt-5.2'

type TestLedger = { ledger: LedgerStore; store: Store; clock: { nowMs: number }; opened: OpenedStore }

async function openLedger(engine: StoreEngine): Promise<TestLedger> {
  const opened = await openServiceStore(engine)
  const clock = { nowMs: noonMs }
  const ledger = await openServiceLedger(opened, { now: () => clock.nowMs })
  return { ledger, store: opened.store, clock, opened }
}

/** Opens ledgers as several processes do. */
async function openProcesses({ opened, clock }: TestLedger, names: readonly string[]): Promise<LedgerStore[]> {
  if (opened.name !== 'postgres') throw new Error('Only PostgreSQL serves several processes.')
  return await Promise.all(
    names.map(async (name) => {
      const options = { store: await opened.openAgain(), revenue: `service:revenue/${name}`, idPrefix: name }
      return openServiceLedger(opened, { ...options, now: () => clock.nowMs })
    }),
  )
}

const grant = (store: LedgerStore, to: AccountId, amount: number, requestKey?: string) =>
  store.change({ accounts: [to], issues: true, requestKeys: [requestKey] }, (ledger) =>
    ledger.issue({ type: 'grant', to, amount: usd(amount), note: 'start', requestKey }),
  )
const hold = (store: LedgerStore, accountId: AccountId, amount: number, key?: KeyLimit) =>
  store.change({ accounts: [accountId], keyIds: key ? [key.id] : [] }, (ledger) =>
    ledger.hold({ accountId, key, amount: usd(amount), model }),
  )
const post = (store: LedgerStore, id: number, amount: number) =>
  store.change({ holds: [id] }, (ledger) => ledger.post(id, { amount: usd(amount), details: { tokens: 7 } }))
const release = (store: LedgerStore, id: number) => store.change({ holds: [id] }, (ledger) => ledger.void(id))
const transfer = (store: LedgerStore, from: AccountId, to: AccountId, amount: number, requestKey?: string) =>
  store.change({ accounts: [from, to], keyIds: [small.id], requestKeys: [requestKey] }, (ledger) =>
    ledger.transfer({ from, to, key: small, amount: usd(amount), note: 'gift', requestKey }),
  )
const refund = (store: LedgerStore, transactionId: string, amount?: number) =>
  store.change({ transfers: [transactionId] }, (ledger) => {
    const part = amount === undefined ? undefined : usd(amount)
    return ledger.refund({ transactionId, amount: part, note: 'sorry', requestKey: undefined })
  })
const balance = (store: LedgerStore, accountId: AccountId) =>
  store.read({ accounts: [accountId] }, (ledger) => ledger.balance(accountId))

const tables = {
  accounts: 'SELECT id, kind, debits, credits, held, entries FROM credit_accounts ORDER BY id',
  holds: 'SELECT id, account_id, key_id, key_day, key_limit, amount, model, state FROM credit_holds ORDER BY id',
  keyDays: 'SELECT key_id, day, spent, held FROM credit_key_days ORDER BY key_id, day',
  transfers: `SELECT id, type, debit_account, credit_account, amount, debit_balance, credit_balance, description, details,
    key_id, hold_id, refund_of, request_key, at_ms FROM credit_transfers ORDER BY sequence`,
  days: 'SELECT * FROM credit_days ORDER BY account_id, day, type, model, key_id',
  meters: 'SELECT sandbox_id, until_ms FROM sandbox_meters ORDER BY sandbox_id',
}
async function dump(store: Store): Promise<Record<string, StoredRow[]>> {
  const entries = Object.entries(tables).map(async ([name, sql]) => {
    const rows = await store.read.all(defineStatement(sql).withRows((row) => ({ ...row })))
    return [name, rows] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** Checks the sums of the journal against the balances. */
async function expectBalancedBooks(store: Store): Promise<void> {
  const { accounts = [], transfers = [], holds = [] } = await dump(store)
  for (const account of accounts) {
    const { id } = account
    const sum = (rows: StoredRow[]) => rows.reduce((total, { amount }) => total + Number(amount), 0)
    const debited = transfers.filter(({ debit_account }) => debit_account === id)
    const credited = transfers.filter(({ credit_account }) => credit_account === id)
    const open = holds.filter(({ account_id, state }) => account_id === id && state === 'open')
    expect(account).toMatchObject({
      ...{ debits: sum(debited), credits: sum(credited), held: sum(open) },
      entries: debited.length + credited.length,
    })
  }
}

/** Results of the histories on the engine that ran first, to compare with those of the other one. */
const histories = new Map<number, unknown>()

describeStores('a ledger', (engine) => {
  test('holds, charges and releases credits', async () => {
    const { ledger, store } = await openLedger(engine)
    await grant(ledger, ada, 10)
    const [first, second, third] = await Promise.all([hold(ledger, ada, 4), hold(ledger, ada, 4), hold(ledger, ada, 2)])
    expect(await balance(ledger, ada)).toEqual({ posted: usd(10), held: usd(10), available: 0 })
    await expect(hold(ledger, ada, 1)).rejects.toMatchObject({ code: 'credits/insufficient' })
    const ends = [
      post(ledger, first.id, 3),
      post(ledger, first.id, 3),
      release(ledger, second.id),
      post(ledger, second.id, 1),
    ]
    expect(await Promise.all(ends)).toEqual([{ charged: usd(3) }, undefined, true, undefined])
    expect(await post(ledger, third.id, 3)).toEqual({ charged: usd(3) })
    expect(await release(ledger, third.id)).toBe(false)
    expect(await balance(ledger, ada)).toEqual({ posted: usd(4), held: 0, available: usd(4) })
    await expectBalancedBooks(store)
  })

  test('counts the day of a key', async () => {
    const { ledger, clock } = await openLedger(engine)
    await grant(ledger, ada, 10)
    const { id } = await hold(ledger, ada, 1.5, small)
    await expect(hold(ledger, ada, 1, small)).rejects.toMatchObject({ code: 'credits/daily-limit' })
    await post(ledger, id, 1)
    const spent = () => ledger.read({ keyIds: [small.id] }, (it) => it.sumSpentToday(small.id))
    expect(await spent()).toBe(usd(1))
    expect((await hold(ledger, ada, 1, small)).amount).toBe(usd(1))
    clock.nowMs += 24 * hourMs
    expect(await spent()).toBe(0)
    const spendable = await ledger.read({ accounts: [ada], keyIds: [small.id] }, (it) => it.spendable(ada, small))
    expect(spendable).toBe(usd(2))
  })

  test('repeats no request, and refunds at most what was charged', async () => {
    const { ledger, store } = await openLedger(engine)
    const grants = await Promise.all([grant(ledger, ada, 5, 'same'), grant(ledger, ada, 5, 'same')])
    expect(grants[0].id).toBe(grants[1].id)
    await expect(grant(ledger, ada, 6, 'same')).rejects.toMatchObject({ code: 'request/reused-key' })
    await post(ledger, (await hold(ledger, ada, 2)).id, 2)
    const id = String((await dump(store)).transfers?.at(-1)?.id)
    const refunds = await Promise.allSettled([refund(ledger, id, 1), refund(ledger, id), refund(ledger, id)])
    expect(refunds.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    await expect(refund(ledger, 'txn_unknown')).rejects.toMatchObject({ code: 'credits/transaction-not-found' })
    expect(await balance(ledger, ada)).toMatchObject({ posted: usd(5) })
    await expectBalancedBooks(store)
  })

  test('releases expired holds, charges open ones of an earlier process, and deletes ended ones', async () => {
    const { ledger, store, clock } = await openLedger(engine)
    await grant(ledger, ada, 100)
    const holds = await Promise.all(
      Array.from({ length: 20 }, () => hold(ledger, ada, 1, small).catch(() => undefined)),
    )
    expect(holds.filter(Boolean)).toHaveLength(2)
    for (let index = 0; index < 8; index += 1) await hold(ledger, ada, 1)
    expect(await ledger.change({ holds: 'expired' }, (it) => it.expire())).toBe(0)
    clock.nowMs += hourMs
    await hold(ledger, ada, 1)
    expect(await ledger.change({ holds: 'expired' }, (it) => it.expire())).toBe(10)
    expect(await ledger.change({ holds: 'open' }, (it) => it.recover())).toBe(1)
    expect(await ledger.change({ holds: 'open' }, (it) => it.recover())).toBe(0)
    expect(await balance(ledger, ada)).toEqual({ posted: usd(99), held: 0, available: usd(99) })
    expect((await dump(store)).holds).toHaveLength(11)
    clock.nowMs += 8 * 24 * hourMs
    expect(await ledger.removeEndedHolds()).toBe(false)
    expect((await dump(store)).holds).toEqual([])
  })

  test('moves the meter of a sandbox with its charge', async () => {
    const { ledger, store } = await openLedger(engine)
    await grant(ledger, ada, 1)
    const charge = (untilMs: number) =>
      ledger.change({ accounts: [ada], meters: [sandboxId] }, (it) => {
        const before = it.findMeter(sandboxId)?.untilMs ?? 0
        it.setMeter(sandboxId, { untilMs, startedAtMs: 0, runningMs: 0.5, epoch: 'boot' })
        return [before, it.charge({ accountId: ada, type: 'sandbox', description: 'one', amount: usd(0.6) })]
      })
    expect(await Promise.all([charge(10), charge(20)])).toEqual([
      [0, usd(0.6)],
      [10, usd(0.4)],
    ])
    expect((await dump(store)).meters).toEqual([{ sandbox_id: sandboxId, until_ms: 20 }])
    await ledger.removeStaleMeters()
    expect((await dump(store)).meters).toEqual([])
  })

  test('runs statements of other tables in the same transaction', async () => {
    const { ledger, store } = await openLedger(engine)
    const note = defineStatement<Record<'id' | 'kind', string>>(
      'INSERT INTO credit_accounts (id, kind) VALUES (@id, @kind) ON CONFLICT (id) DO NOTHING',
    )
    const change = (id: string, requestKey: string) =>
      ledger.change({ accounts: [ada], issues: true, requestKeys: [requestKey] }, (it, statements) => {
        const row = it.issue({ type: 'top_up', to: ada, amount: usd(1), note: '', requestKey })
        statements.run(note, 1, { id, kind: 'user' })
        return row.id
      })
    const results = await Promise.allSettled([change('one', 'a'), change('one', 'b'), change('two', 'c')])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await balance(ledger, ada)).toMatchObject({ posted: usd(2) })
    await expectBalancedBooks(store)
  })

  test('a failing change affects no other', async () => {
    const { ledger, store } = await openLedger(engine)
    await grant(ledger, ada, 5)
    const results = await Promise.allSettled([
      hold(ledger, ada, 1),
      ledger.change({ accounts: [ada] }, () => {
        throw new Error('a bug')
      }),
      hold(ledger, ada, 100),
      hold(ledger, ada, 2),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'data/unwritable' } })
    expect(results[2]).toMatchObject({ reason: { code: 'credits/insufficient' } })
    expect(await balance(ledger, ada)).toMatchObject({ held: usd(3) })
    await expectBalancedBooks(store)
  })

  test('200 concurrent holds overdraw nothing', async () => {
    const { ledger, store } = await openLedger(engine)
    await grant(ledger, ada, 1)
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => hold(ledger, ada, 0.02)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
    expect(await balance(ledger, ada)).toEqual({ posted: usd(1), held: usd(1), available: 0 })
    await expectBalancedBooks(store)
  })

  test('rejects work after it was closed, and commits what came before', async () => {
    const { ledger } = await openLedger(engine)
    const last = grant(ledger, ada, 5)
    await ledger.close()
    expect(ledger.hasEnded).toBe(true)
    await expect(grant(ledger, ada, 5)).rejects.toMatchObject({ code: 'data/unwritable' })
    expect((await last).amount).toBe(usd(5))
  })

  test.each([1, 2, 3])('history %i is the same on both engines', async (seed) => {
    const { ledger, store, clock } = await openLedger(engine)
    const random = createSeededRandom(seed)
    const accounts = [ada, bob]
    const open: number[] = []
    const results: unknown[] = []
    for (const account of accounts) await grant(ledger, account, 20)
    const step = (): Promise<unknown> => {
      const account = random.pick(accounts)
      const amount = random.whole(1, 300) / 100
      const id = random.chance(0.1) ? 999 : (open[random.whole(0, Math.max(0, open.length - 1))] ?? 1)
      const actions = [
        async () => {
          const placed = await hold(ledger, account, amount, random.pick([undefined, small]))
          open.push(placed.id)
          return placed
        },
        () => post(ledger, id, amount),
        () => release(ledger, id),
        () =>
          transfer(ledger, account, account === ada ? bob : ada, amount, random.pick([undefined, 'key', `k${amount}`])),
        () => refund(ledger, `txn_${random.whole(1, 40)}`, random.pick([undefined, amount])),
        () => grant(ledger, account, amount, random.pick([undefined, 'grant'])),
        () => ledger.change({ holds: 'expired' }, (it) => it.expire()),
      ]
      return random
        .pick(actions)()
        .catch((error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)))
    }
    for (let round = 0; round < 25; round += 1) {
      results.push(...(await Promise.all(Array.from({ length: random.whole(1, 8) }, step))))
      clock.nowMs += random.whole(0, 20) * 60_000
    }
    await expectBalancedBooks(store)
    const outcome = { results, ...(await dump(store)) }
    const other = histories.get(seed)
    if (other) expect(outcome).toEqual(other)
    histories.set(seed, outcome)
    expect(results.length).toBeGreaterThan(25)
    expect(results).not.toContain('data/unwritable')
  })

  if (engine.name === 'postgres') {
    test('two processes overdraw nothing on one account', async () => {
      const opened = await openLedger(engine)
      const { store } = opened
      const processes = await openProcesses(opened, ['one', 'two'])
      const [first, second] = processes
      if (!first || !second) throw new Error('Two stores are opened.')
      await grant(first, ada, 1)
      const settle = async (ledger: LedgerStore): Promise<number> => {
        const { id } = await hold(ledger, ada, 0.02, { id: 'key_shared', dailyLimit: usd(0.9) })
        return (await post(ledger, id, 0.02))?.charged ?? 0
      }
      const results = await Promise.allSettled(processes.flatMap((it) => Array.from({ length: 100 }, () => settle(it))))
      const charged = results.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
      expect(charged).toHaveLength(45)
      for (const it of results)
        if (it.status === 'rejected') expect(it.reason).toMatchObject({ code: 'credits/daily-limit' })
      expect(await balance(second, ada)).toEqual({ posted: usd(0.1), held: 0, available: usd(0.1) })
      await expectBalancedBooks(store)
      const { accounts = [] } = await dump(store)
      const revenue = accounts.filter(({ id }) => String(id).startsWith('service:revenue/'))
      expect(revenue.reduce((sum, { credits }) => sum + Number(credits), 0)).toBe(usd(0.9))
    })

    test('a charge of one process is refunded by another', async () => {
      const opened = await openLedger(engine)
      const { store } = opened
      const [one, two] = await openProcesses(opened, ['one', 'two'])
      if (!one || !two) throw new Error('Two stores are opened.')
      await grant(one, ada, 1)
      await post(one, (await hold(one, ada, 0.5)).id, 0.5)
      await refund(two, String((await dump(store)).transfers?.at(-1)?.id))
      expect(await balance(one, ada)).toMatchObject({ posted: usd(1) })
      await expectBalancedBooks(store)
    })

    test('names every row that a change may use', async () => {
      const { ledger } = await openLedger(engine)
      await grant(ledger, ada, 1)
      const unnamed = ledger.change({ accounts: [bob] }, (it) => it.balance(ada))
      await expect(unnamed).rejects.toMatchObject({ cause: { message: expect.stringContaining('account acct_ada') } })
      const hold = ledger.change({}, (it) => it.void(1))
      await expect(hold).rejects.toMatchObject({ cause: { message: expect.stringContaining('hold 1') } })
    })

    test('rejects changes while the server is down, and works again once it is back', async () => {
      const { ledger, store, opened } = await openLedger(engine)
      if (opened.name !== 'postgres') return
      await grant(ledger, ada, 1)
      await opened.server.kill()
      await expect(hold(ledger, ada, 0.5)).rejects.toMatchObject({ code: 'data/unavailable' })
      await opened.server.start()
      expect((await hold(ledger, ada, 0.5)).amount).toBe(usd(0.5))
      await expectBalancedBooks(store)
    })
  }
})
