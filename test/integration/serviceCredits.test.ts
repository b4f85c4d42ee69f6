import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedCharge, seedHold } from '../support/fixtures/seedCharge.ts'
import { type RequestFields, runningService, type TestService } from '../support/processes/runningService.ts'

/** Credits over the real service: the response of each route, its access rules and its errors. */
let service: TestService
let ada: { accountId: string; key: string }
let ownerId: string

beforeAll(async () => {
  service = await runningService({ host: 'none' })
  ada = secondAccount(service.dataDir)
  ownerId = (await service.send('/v1/auth/me')).json.id
})
afterAll(() => service?.close())

const balance = async (key = service.key) => (await service.send('/v1/credits/balance', { key })).json
const history = async (query = '', key = service.key) =>
  (await service.send(`/v1/credits/history${query}`, { key })).json
const grant = (body: object, options: RequestFields = {}) => service.send('/v1/credits/grants', { body, ...options })
const transfer = (body: object, options: RequestFields = {}) =>
  service.send('/v1/credits/transfer', { body, ...options })

test('credits the owner ten dollars once', async () => {
  const begun = {
    balance_cents: 1000,
    credits_cents: 1000,
    formatted: '$10.00',
    held_cents: 0,
    available_cents: 1000,
  }
  expect(await balance()).toEqual(begun)
  await service.restart()
  expect(await balance()).toEqual(begun)
  expect((await history()).transactions).toMatchObject([
    { type: 'grant', amount_cents: 1000, balance_after_cents: 1000, description: 'First credits' },
  ])
})

test('another account starts with a zero balance', async () => {
  expect(await balance(ada.key)).toMatchObject({ balance_cents: 0, formatted: '$0.00' })
  expect(await history('', ada.key)).toEqual({ transactions: [], total: 0, limit: 20, offset: 0 })
})

test('lists grants and transfers in both histories newest first with a running balance', async () => {
  const granted = await grant({ to_address: ada.accountId, amount_cents: 500, note: 'For tests' })
  expect([granted.status, granted.json]).toEqual([
    200,
    {
      transfer_id: expect.stringMatching(/^txn_/),
      status: 'completed',
      to_address: ada.accountId,
      amount_cents: 500,
      balance_after_cents: 1000,
    },
  ])
  const response = await transfer({ to_address: ownerId, amount_cents: 125, note: 'Thanks' }, { key: ada.key })
  expect(response.json).toMatchObject({ status: 'completed', amount_cents: 125, balance_after_cents: 375 })
  expect((await history('', ada.key)).transactions).toMatchObject([
    { type: 'transfer_out', amount_cents: -125, balance_after_cents: 375, description: 'Thanks' },
    { type: 'grant', amount_cents: 500, balance_after_cents: 500, description: 'For tests' },
  ])
  expect((await history('?limit=1')).transactions).toMatchObject([
    { id: response.json.transfer_id, type: 'transfer_in', amount_cents: 125, balance_after_cents: 1125 },
  ])
  expect(await history('?limit=1&offset=1')).toMatchObject({
    transactions: [{ type: 'grant', amount_cents: 1000 }],
    total: 2,
    limit: 1,
    offset: 1,
  })
})

test('the alias returns the same response', async () => {
  const answer = await service.send('/v1/credits/transfers', { body: { to_address: ada.accountId, amount_cents: 1 } })
  expect(answer.json).toMatchObject({ status: 'completed', balance_after_cents: 1124 })
})

test('refunds a charge up to its amount', async () => {
  const transaction_id = seedCharge(service.dataDir, { accountId: ada.accountId, cents: 10 })
  const refund = (body: object) => service.send('/v1/credits/refunds', { body: { transaction_id, ...body } })
  const before = await balance(ada.key)
  expect((await refund({ amount_cents: 4, note: 'Sorry' })).json).toEqual({
    refund_id: expect.stringMatching(/^txn_/),
    status: 'completed',
    transaction_id,
    amount_cents: 4,
  })
  expect((await refund({ amount_cents: 7 })).status).toBe(409)
  expect((await refund({})).json.amount_cents).toBe(6)
  expect(await refund({})).toMatchObject({ status: 409, json: { code: 'credits/refund' } })
  expect((await balance(ada.key)).balance_cents).toBe(before.balance_cents + 10)
  expect((await history('?limit=3', ada.key)).transactions).toMatchObject([
    { type: 'refund', amount_cents: 6 },
    { type: 'refund', amount_cents: 4, description: 'Sorry' },
    { type: 'inference', amount_cents: -10, description: 'gpt-5.2', metadata: { estimated: false } },
  ])
})

test('accepts a wallet address as the recipient of a transfer', async () => {
  const wallet = evmWallet()
  const { access_token: key } = (await wallet.signIn(service.url)).json
  const response = await transfer({ to_address: wallet.address.toLowerCase(), amount_cents: 2 })
  expect([response.status, response.json.to_address]).toEqual([200, wallet.address.toLowerCase()])
  expect((await balance(key)).balance_cents).toBe(2)
})

test('reports held credits beside the balance', async () => {
  const bob = secondAccount(service.dataDir)
  await grant({ to_address: bob.accountId, amount_cents: 30 })
  seedHold(service.dataDir, { accountId: bob.accountId, cents: 12 })
  expect(await balance(bob.key)).toMatchObject({ balance_cents: 30, held_cents: 12, available_cents: 18 })
  await service.restart()
  expect(await balance(bob.key)).toMatchObject({ balance_cents: 18, held_cents: 0, available_cents: 18 })
  expect((await history('?limit=1', bob.key)).transactions).toMatchObject([
    { type: 'inference', amount_cents: -12, metadata: { estimated: true, interrupted: true } },
  ])
  await service.restart()
  expect((await history('', bob.key)).total).toBe(2)
})

test('returns the prices in the file', async () => {
  const { json } = await service.send('/v1/credits/pricing')
  expect(json.tiers[0]).toEqual({ name: 'small', vcpu: 1, memory_mb: 512, disk_gb: 5, monthly_cents: 500 })
  expect(json.pricing).toEqual(json.tiers)
  expect(json.payment_tiers.map((it: { amount_usd: number }) => it.amount_usd)).toEqual([5, 25, 100, 500, 1000, 2500])
  expect(json.sandboxes_charged).toBe(false)
})

describe('refuses', () => {
  const to = 'acct_nobody'
  const wrong: [body: object, error: string][] = [
    [{}, '`to_address` is required.'],
    [{ to_address: '', amount_cents: 1 }, '`to_address` must not be empty.'],
    [{ to_address: to }, '`amount_cents` is required.'],
    ...[0, -1, 0.5, 1e9, Number.NaN, '1', null].map(
      (amount_cents) =>
        [{ to_address: to, amount_cents }, '`amount_cents` must be a whole number of cents from 1 to 100000000.'] as [
          object,
          string,
        ],
    ),
    [{ to_address: to, amount_cents: 1, note: 'two\nlines' }, '`note` must be one line of visible characters.'],
    [{ to_address: to, amount_cents: 1, note: 'x'.repeat(201) }, '`note` must have at most 200 characters.'],
  ]
  test.each(wrong)('%j', async (body, error) => {
    for (const path of ['/v1/credits/transfer', '/v1/credits/grants']) {
      expect(await service.send(path, { body })).toMatchObject({
        status: 400,
        json: { error, code: 'request/invalid' },
      })
    }
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=1e10', 'limit=1.5'])(
    'history?%s',
    async (query) => {
      expect((await service.send(`/v1/credits/history?${query}`)).status).toBe(400)
    },
  )

  test('a transfer to an unknown account, to the sender or above the balance', async () => {
    const before = await balance()
    expect(await transfer({ to_address: to, amount_cents: 1 })).toMatchObject({
      status: 404,
      json: { code: 'credits/recipient-not-found' },
    })
    expect((await transfer({ to_address: `0x${'1'.repeat(40)}`, amount_cents: 1 })).status).toBe(404)
    expect((await transfer({ to_address: ownerId, amount_cents: 1 })).status).toBe(400)
    expect(await transfer({ to_address: ada.accountId, amount_cents: 99_999 })).toMatchObject({
      status: 402,
      json: { error: 'Insufficient credits', code: 'credits/insufficient' },
    })
    expect(await balance()).toEqual(before)
  })

  test('grants and refunds by callers other than the owner and without a key', async () => {
    const { transactions } = await history('', ada.key)
    for (const [path, body] of [
      ['/v1/credits/grants', { to_address: ada.accountId, amount_cents: 1 }],
      ['/v1/credits/refunds', { transaction_id: transactions[0].id }],
    ] as const) {
      expect((await service.send(path, { body, key: ada.key })).status).toBe(403)
      expect((await service.send(path, { body, key: null })).status).toBe(401)
    }
    expect((await service.send('/v1/credits/balance', { key: null })).status).toBe(401)
  })

  test('refunds of a transaction that is not a charge', async () => {
    const { transactions } = await history()
    for (const transaction_id of ['txn_none', transactions[0].id]) {
      expect(await service.send('/v1/credits/refunds', { body: { transaction_id } })).toMatchObject({
        status: 404,
        json: { code: 'credits/transaction-not-found' },
      })
    }
  })
})

describe('a repeated request', () => {
  const headers = { 'idempotency-key': 'give once' }

  test('transfers once even if a crash lost the stored response', async () => {
    const body = { to_address: ada.accountId, amount_cents: 7 }
    const before = await balance()
    const [first, second] = await Promise.all([transfer(body, { headers }), transfer(body, { headers })])
    expect(second?.json).toEqual(first?.json)
    forgetAnswers()
    const third = await transfer(body, { headers })
    expect(third.headers['idempotent-replayed']).toBeUndefined()
    expect(third.json).toEqual(first?.json)
    expect((await balance()).balance_cents).toBe(before.balance_cents - 7)
  })

  test('with another body is rejected even if the stored response was lost', async () => {
    for (const change of [() => undefined, forgetAnswers]) {
      change()
      const response = await transfer({ to_address: ada.accountId, amount_cents: 8 }, { headers })
      expect(response).toMatchObject({ status: 409, json: { code: 'request/reused-key' } })
    }
  })

  test('by another account with the same key is a separate request', async () => {
    const { status } = await transfer({ to_address: ownerId, amount_cents: 7 }, { headers, key: ada.key })
    expect(status).toBe(200)
  })

  test('for a grant credits once', async () => {
    const ask = () => grant({ to_address: ada.accountId, amount_cents: 9 }, { headers: { 'idempotency-key': 'grant' } })
    const before = await balance(ada.key)
    await ask()
    forgetAnswers()
    await ask()
    expect((await balance(ada.key)).balance_cents).toBe(before.balance_cents + 9)
  })
})

test('two hundred concurrent transfers do not overdraw the balance', async () => {
  const bob = secondAccount(service.dataDir)
  await grant({ to_address: bob.accountId, amount_cents: 50 })
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => transfer({ to_address: ownerId, amount_cents: 3 }, { key: bob.key })),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(16)
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(184)
  expect(await balance(bob.key)).toMatchObject({ balance_cents: 2, held_cents: 0 })
})

describe('an API key', () => {
  const create = (body: object) => service.send('/v1/auth/api-keys', { body })

  test('has limits that its owner can see', async () => {
    const key = await create({ name: 'coding agent', models: ['gpt-5.2'], daily_limit_cents: 25 })
    expect([key.status, key.json]).toMatchObject([201, { models: ['gpt-5.2'], daily_limit_cents: 25 }])
    const { json } = await service.send('/v1/auth/api-keys')
    const listed = json.api_keys.find((it: { id: string }) => it.id === key.json.id)
    expect(listed).toMatchObject({ models: ['gpt-5.2'], daily_limit_cents: 25, spent_today_cents: 0 })
    const plain = json.api_keys.find((it: { name: string }) => it.name === 'Owner key')
    expect(plain).toMatchObject({ models: null, daily_limit_cents: null, spent_today_cents: null })
  })

  test('cannot exceed its daily limit even after a restart and cannot grant credits', async () => {
    const { key, id } = (await create({ name: 'limited', daily_limit_cents: 10 })).json
    const give = (amount_cents: number) => transfer({ to_address: ada.accountId, amount_cents }, { key })
    expect((await give(6)).status).toBe(200)
    expect(await give(5)).toMatchObject({ status: 402, json: { code: 'credits/daily-limit' } })
    await service.restart()
    expect(await give(5)).toMatchObject({
      status: 402,
      json: { detail: '4 of 10 cents remain until 00:00 UTC.' },
    })
    expect((await give(4)).status).toBe(200)
    const { json } = await service.send('/v1/auth/api-keys')
    expect(json.api_keys.find((it: { id: string }) => it.id === id).spent_today_cents).toBe(10)
    const granted = await grant({ to_address: ada.accountId, amount_cents: 1 }, { key })
    expect(granted).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
  })

  test.each([
    [{ models: [] }, '`models` must be a list of 1 to 50 model names.'],
    [{ models: 'gpt-5.2' }, '`models` must be a list of 1 to 50 model names.'],
    [{ models: [''] }, '`models.0` must not be empty.'],
    [{ daily_limit_cents: -1 }, '`daily_limit_cents` must be a whole number of cents from 0 to 100000000.'],
    [{ daily_limit_cents: 1.5 }, '`daily_limit_cents` must be a whole number of cents from 0 to 100000000.'],
  ])('is not created with %j', async (rules, error) => {
    expect(await create({ name: 'x', ...rules })).toMatchObject({ status: 400, json: { error } })
  })
})

/** Simulates a crash between a transfer and its stored response. */
function forgetAnswers(): void {
  const database = openDatabase(join(service.dataDir, 'service.sqlite'))
  try {
    database.exec('DELETE FROM idempotent_answers')
  } finally {
    database.close()
  }
}
