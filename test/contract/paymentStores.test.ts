import { expect, test } from 'vitest'
import { createPaymentBooks, type PaymentBooks } from '#service/payments/paymentBooks.ts'
import { type PaymentRow, paymentRepository } from '#service/payments/paymentRepository.ts'
import { createTestLedgerFacilitator } from '#service/payments/testLedgerFacilitator.ts'
import { AppError } from '#shared/appError.ts'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import { AccountId, SandboxId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import { createPayer, lowerCase } from '../support/clients/payer.ts'
import { openServiceLedger, openServiceStore } from '../support/fixtures/serviceStores.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const nowMs = Date.UTC(2026, 10, 22, 12)
const ada = AccountId.parse('acct_ada')
const sandboxId = SandboxId.parse('ab'.repeat(16))
const settled = { state: 'settled', transaction: '0xabc' } as const

const createPayment = (id: string, changes: Partial<PaymentRow> = {}): PaymentRow => ({
  ...{ id, network: 'eip155:8453', asset: '0xusdc', payer: '0xada', nonce: `0x${id}`, operation: 'domainBuy' },
  ...{ key: undefined, accountId: ada, method: 'POST', path: '/domains', bodyHash: Buffer.from([1, 0, 255]) },
  authorization: { from: '0xada' } as unknown as PaymentRow['authorization'], // stored as it is
  ...{ amount: 2_000_000, purchase: { name: 'example.org' }, resource: null, sandboxId: null },
  ...{ state: 'verifying', work: 'none', transaction: null, answer: undefined, attempts: 0 },
  ...{ nextAtMs: nowMs, createdAtMs: nowMs },
  ...changes,
})

async function openBooks(
  engine: StoreEngine,
): Promise<{ books: PaymentBooks; store: Store; balance(): Promise<number> }> {
  const opened = await openServiceStore(engine)
  const now = () => nowMs
  const ledger = await openServiceLedger(opened, { now })
  const balance = () => ledger.read({ accounts: [ada] }, (it) => it.balance(ada).posted)
  return { books: createPaymentBooks({ store: opened.store, ledger, now }), store: opened.store, balance }
}

describeStores('payments', (engine) => {
  test('are stored and found', async () => {
    const { books } = await openBooks(engine)
    const payment = createPayment('one', { key: 'order-1', sandboxId })
    expect(await books.open(payment)).toBe(true)
    expect(await books.find(payment)).toEqual(payment)
    expect(await books.get('two')).toBeUndefined()
    await expect(books.open(createPayment('two', { nonce: payment.nonce }))).rejects.toThrow('unique')
    const findByKey = async () => (await books.findByKey({ accountId: ada, key: 'order-1' }))?.state
    expect(await findByKey()).toBeUndefined()
    await books.settling('one')
    expect(await findByKey()).toBe('settling')
    await books.recordSettlement('one', settled, 'begun')
    await books.done('one', { status: 201, body: '{"thing":"\\u0000"}' })
    expect(await books.get('one')).toMatchObject({
      ...{ state: 'settled', work: 'done', transaction: '0xabc' },
      answer: { status: 201, body: '{"thing":"\\u0000"}' },
    })
    expect(await findByKey()).toBe('settled')
  })

  test('of 20 concurrent ones for a resource, one leases it until it is finished', async () => {
    const { books, store } = await openBooks(engine)
    const payments = Array.from({ length: 20 }, (_, index) =>
      createPayment(`p${index}`, { resource: 'domain:a', sandboxId }),
    )
    const opened = await Promise.all(payments.map((it) => books.open(it)))
    expect(opened.filter(Boolean)).toHaveLength(1)
    const id = `p${opened.indexOf(true)}`
    expect(await books.isLeased('domain:a')).toBe(true)
    expect(await paymentRepository.isSandboxLeased(store.read, sandboxId)).toBe(true)
    await books.settling(id)
    await books.recordSettlement(id, { state: 'failed', reason: 'expired', message: '' } as never, 'begun')
    expect(await books.isLeased('domain:a')).toBe(false)
    await books.drop(id)
    expect(await books.get(id)).toBeUndefined()
  })

  test('are credited once, in one transaction with the ledger', async () => {
    const { books, balance } = await openBooks(engine)
    const payment = createPayment('one')
    await books.open(payment)
    await expect(books.credit(payment, new AppError('domain/taken', 'Taken.'))).rejects.toMatchObject({
      code: 'data/unwritable',
    })
    expect(await balance()).toBe(0)
    await books.settling('one')
    await books.recordSettlement('one', settled, 'begun')
    const credit = async () =>
      books.credit({ ...payment, transaction: '0xabc' }, new AppError('domain/taken', 'Taken.'))
    const results = await Promise.allSettled([credit(), credit()])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await balance()).toBe(2_000_000)
    expect(await books.get('one')).toMatchObject({ work: 'credited', answer: { status: 409 } })
  })

  test('refuse a step that their state does not allow', async () => {
    const { books } = await openBooks(engine)
    await books.open(createPayment('one'))
    await expect(books.begin('one')).rejects.toThrow('cannot change')
    await expect(books.recordSettlement('one', settled, 'begun')).rejects.toThrow('cannot change')
    await books.settling('one')
    await books.recordSettlement('one', { state: 'unknown', message: '' }, 'begun')
    await books.drop('one')
    expect(await books.get('one')).toMatchObject({ state: 'unknown', attempts: 1, nextAtMs: nowMs + 5_000 })
    await books.recordSettlement('one', settled, 'waiting')
    const begun = await Promise.allSettled([books.begin('one'), books.begin('one')])
    expect(begun.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await expect(books.settling('none')).rejects.toThrow('no payment')
  })

  test('are listed when due, and prepared for a new process', async () => {
    const { books, store } = await openBooks(engine)
    for (const id of ['new', 'open', 'other', 'done'])
      await books.open(createPayment(id, { network: id, resource: id }))
    for (const id of ['open', 'other', 'done']) await books.settling(id)
    await books.recordSettlement('done', settled, 'begun')
    await books.done('done', undefined)
    await store.write((tx) => paymentRepository.retryAt(tx, 'open', nowMs + 60_000))
    const listDue = async () => (await paymentRepository.listDue(store.read, nowMs, 20)).map(({ id }) => id).toSorted()
    expect(await listDue()).toEqual(['new', 'other'])
    await store.write(async (tx) => {
      await paymentRepository.removeUnverified(tx)
      await paymentRepository.releaseResources(tx, 'open')
      await paymentRepository.makeDue(tx)
    })
    expect(await listDue()).toEqual(['open', 'other'])
    expect([await books.isLeased('open'), await books.isLeased('other')]).toEqual([true, false])
  })

  test('in test money move it once, however often they are submitted', async () => {
    const opened = await openServiceStore(engine)
    const facilitator = createTestLedgerFacilitator({ store: opened.store, now: () => nowMs })
    const payer = createPayer(undefined, () => nowMs)
    const to = '0x2222222222222222222222222222222222222222'
    expect(await facilitator.give(payer.address, 3_000_000)).toBe(3_000_000)
    const authorize = async () => lowerCase(await payer.authorize({ to, value: '2000000' }))
    const [one, two] = [await authorize(), await authorize()]
    const submit = (authorization: typeof one) =>
      facilitator.settle({ authorization, createdAtMs: nowMs, again: false } as Parameters<
        typeof facilitator.settle
      >[0])
    const results = await Promise.all([...Array.from({ length: 20 }, () => submit(one)), submit(two)])
    const settledResults = results.filter(({ state }) => state === 'settled')
    expect(settledResults.length).toBeGreaterThan(0)
    expect(new Set(settledResults.map((it) => ('transaction' in it ? it.transaction : ''))).size).toBe(1)
    expect(await facilitator.balance(payer.address)).toBe(1_000_000)
    expect(await facilitator.balance(to)).toBe(2_000_000)
    expect(facilitator.network).toBe(testLedgerNetwork)
  })
})
