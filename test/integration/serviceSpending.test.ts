import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedCharge, seedHold } from '../support/fixtures/seedCharge.ts'
import { type RequestFields, runningService, type TestService } from '../support/processes/runningService.ts'

/** Credit reports besides the balance: sums, filters, CSV and events. Also adjustments by the owner. */
let service: TestService
let ada: { accountId: string; key: string }
let ownerId: string
const day = (text: string) => Date.parse(`${text}T12:00:00.000Z`)
const formula = '=HYPERLINK("https://evil.example")'

beforeAll(async () => {
  service = await runningService({ host: 'none' })
  ada = secondAccount(service.dataDir)
  ownerId = (await service.send('/v1/auth/me')).json.id
  await service.send('/v1/credits/grants', { body: { to_address: ada.accountId, amount_cents: 500, note: formula } })
  const charge = (fields: object) => seedCharge(service.dataDir, { accountId: ada.accountId, cents: 1, ...fields })
  const refunded = charge({ cents: 10, model: 'gpt-5.2', keyId: 'key_one', atMs: day('2026-03-01') })
  charge({ cents: 20, model: 'claude-opus-4.6', atMs: day('2026-03-01'), details: { prompt_tokens: 12 } })
  charge({ cents: 3, model: 'gpt-5.2', atMs: day('2026-03-02') })
  charge({ cents: 4, model: formula, atMs: day('2026-03-02') })
  await service.send('/v1/credits/refunds', { body: { transaction_id: refunded, amount_cents: 6, note: 'Sorry' } })
  await service.send('/v1/credits/transfer', { key: ada.key, body: { to_address: ownerId, amount_cents: 50 } })
})
afterAll(() => service?.close())

const get = async (path: string, key = ada.key) => (await service.send(`/v1/credits/${path}`, { key })).json
const adjust = (body: object, options: RequestFields = {}) =>
  service.send('/v1/credits/adjustments', { body, ...options })

describe('spending', () => {
  const march = 'from=2026-03-01&to=2026-03-31'

  test('is summed by day', async () => {
    const { groups, total, from, to } = await get(`spending?${march}`)
    expect([from, to]).toEqual(['2026-03-01', '2026-03-31'])
    expect(groups).toMatchObject([
      { day: '2026-03-01', model: null, requests: 2, inference_cents: 30, spent_cents: 30 },
      { day: '2026-03-02', model: null, requests: 2, inference_cents: 7, spent_cents: 7 },
    ])
    expect(total).toMatchObject({ day: null, requests: 4, inference_cents: 37, sandboxes_cents: 0, refunds_cents: 0 })
  })

  test('is summed by model and by key with the highest cost first', async () => {
    expect((await get(`spending?${march}&by=model`)).groups).toMatchObject([
      { model: 'claude-opus-4.6', inference_cents: 20 },
      { model: 'gpt-5.2', inference_cents: 13 },
      { model: formula, inference_cents: 4 },
    ])
    expect((await get(`spending?${march}&by=key`)).groups).toMatchObject([
      { key_id: null, inference_cents: 27 },
      { key_id: 'key_one', inference_cents: 10 },
    ])
    expect((await get(`spending?${march}&by=day,model`)).groups).toHaveLength(4)
  })

  test('counts refunds and transfers on their own day with the model of the charge', async () => {
    const { groups, total } = await get('spending?by=model')
    expect(groups).toContainEqual(expect.objectContaining({ model: 'gpt-5.2', refunds_cents: 6, spent_cents: -6 }))
    expect(total).toMatchObject({ refunds_cents: 6, spent_cents: -6, sent_cents: 50, received_cents: 0 })
    expect((await get('spending', service.key)).total).toMatchObject({ received_cents: 50, spent_cents: 0 })
  })

  test.each([
    ['from=2026-03-02&to=2026-03-01', '`from` must not be after `to`.'],
    ['from=2025-01-01&to=2026-01-02', '`from` and `to` must span at most 366 days.'],
    ['from=yesterday', '`from` must be a day such as 2026-01-31.'],
    ['from=2026-02-30', '`from` must be a day such as 2026-01-31.'],
    ['by=account', '`by` must be one of day | model | key | day,model.'],
  ])('refuses %s', async (query, error) => {
    const answer = await service.send(`/v1/credits/spending?${query}`)
    expect(answer).toMatchObject({ status: 400, json: { error, code: 'request/invalid' } })
  })

  test('covers a leap year', async () => {
    expect((await service.send('/v1/credits/spending?from=2027-07-01&to=2028-06-30')).status).toBe(200)
  })
})

describe('the history', () => {
  const search = async (query: string) => {
    const { transactions, total } = await get(`history?limit=100&${query}`)
    expect(transactions).toHaveLength(total)
    return transactions.map(({ description, amount_cents }: Record<string, unknown>) => [description, amount_cents])
  }

  test.each([
    [
      'type=inference&model=gpt-5.2',
      [
        ['gpt-5.2', -3],
        ['gpt-5.2', -10],
      ],
    ],
    ['model=claude-opus-4.6', [['claude-opus-4.6', -20]]],
    ['key=key_one', [['gpt-5.2', -10]]],
    ['type=refund', [['Sorry', 6]]],
    ['type=transfer_out', [['', -50]]],
    ['type=transfer_in', []],
    ['type=grant', [[formula, 500]]],
    ['type=adjustment', []],
    [
      'from=2026-03-02T00:00:00.000Z&to=2026-03-03T00:00:00.000Z',
      [
        [formula, -4],
        ['gpt-5.2', -3],
      ],
    ],
    ['text=CLAUDE', [['claude-opus-4.6', -20]]],
    ['text=%25', []],
    ['text=_', []],
    ['text=nothing', []],
    [`text=${encodeURIComponent("' OR 1=1 --")}`, []],
  ])('is filtered by %s', async (query, expected) => {
    expect(await search(query)).toEqual(expected)
  })

  test('reports the key, tokens and refunded amount', async () => {
    const [charge] = (await get('history?key=key_one')).transactions
    expect(charge).toMatchObject({ key_id: 'key_one', refunded_cents: 6, metadata: { estimated: false } })
    const [entry] = (await get('history?model=claude-opus-4.6')).transactions
    expect(entry).toMatchObject({ metadata: { prompt_tokens: 12 } })
    expect(entry.refunded_cents).toBeUndefined()
    const [byId] = (await get(`history?text=${charge.id}`)).transactions
    expect(byId.id).toBe(charge.id)
  })

  test.each(['type=charge', 'from=2026-03-01', 'text=', `text=${'x'.repeat(201)}`])('refuses %s', async (query) => {
    for (const path of ['history', 'history/export']) {
      expect((await service.send(`/v1/credits/${path}?${query}`)).status).toBe(400)
    }
  })
})

describe('the CSV', () => {
  test('has no cells that spreadsheets treat as formulas, and amounts as plain numbers', async () => {
    const { text, headers } = await service.send('/v1/credits/history/export', { key: ada.key })
    expect(headers['content-disposition']).toBe('attachment; filename="steward-credits.csv"')
    const lines = text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(8)
    expect(lines[0]).toBe(
      'created_at,type,description,amount_cents,balance_after_cents,refunded_cents,key_id,id,details',
    )
    expect(lines.at(-1)).toMatch(/^[^,]+Z,grant,"'=HYPERLINK\(""https:\/\/evil\.example""\)",500,500,,,txn_\w+,$/)
    expect(text).toContain(',gpt-5.2,-10,')
    expect(text).not.toMatch(/(^|[,"\n])[=+@]/)
  })

  test('contains all filtered entries across several reads', async () => {
    const bob = secondAccount(service.dataDir)
    await service.send('/v1/credits/grants', { body: { to_address: bob.accountId, amount_cents: 500 } })
    for (let index = 0; index < 410; index += 1) seedCharge(service.dataDir, { accountId: bob.accountId, cents: 1 })
    const { text } = await service.send('/v1/credits/history/export?type=inference', { key: bob.key })
    const ids = [...text.matchAll(/txn_\w+/g)].map(([id]) => id)
    expect(ids).toHaveLength(410)
    expect(new Set(ids).size).toBe(410)
  })
})

describe('an adjustment', () => {
  const readBalance = async (key = service.key) => (await service.send('/v1/credits/balance', { key })).json

  test('raises and lowers the balance with a note in the history', async () => {
    const before = (await readBalance()).balance_cents
    expect((await adjust({ amount_cents: 250, note: 'More for tests' })).json).toEqual({
      adjustment_id: expect.stringMatching(/^txn_/),
      status: 'completed',
      account_id: ownerId,
      amount_cents: 250,
      balance_after_cents: before + 250,
    })
    expect((await adjust({ amount_cents: -400, note: 'Less' })).json.balance_after_cents).toBe(before - 150)
    expect((await readBalance()).balance_cents).toBe(before - 150)
    expect((await get('history?type=adjustment', service.key)).transactions).toMatchObject([
      { type: 'adjustment', amount_cents: -400, description: 'Less', balance_after_cents: before - 150 },
      { type: 'adjustment', amount_cents: 250, description: 'More for tests' },
    ])
  })

  test('does not count as spending and is recorded', async () => {
    expect((await get('spending', service.key)).total).toMatchObject({ spent_cents: 0 })
    const { activities } = (await service.send('/v1/activity?limit=500')).json
    expect(activities.at(-1)).toMatchObject({
      type: 'credits.adjusted',
      description: 'Lowered your balance by $4.00: Less',
    })
  })

  test('never lowers the balance below the held amount', async () => {
    const bob = secondAccount(service.dataDir)
    await adjust({ to_address: bob.accountId, amount_cents: 30, note: 'Begin' })
    seedHold(service.dataDir, { accountId: bob.accountId, cents: 12 })
    expect(await adjust({ to_address: bob.accountId, amount_cents: -19, note: 'x' })).toMatchObject({
      status: 402,
      json: { code: 'credits/insufficient' },
    })
    expect((await adjust({ to_address: bob.accountId, amount_cents: -18, note: 'x' })).status).toBe(200)
    expect(await readBalance(bob.key)).toMatchObject({ balance_cents: 12, held_cents: 12, available_cents: 0 })
  })

  test('is applied once per Idempotency-Key in either direction', async () => {
    const headers = { 'idempotency-key': 'adjust once' }
    const before = (await readBalance()).balance_cents
    await Promise.all([1, 2].map(() => adjust({ amount_cents: -5, note: 'Once' }, { headers })))
    const database = openDatabase(join(service.dataDir, 'service.sqlite'))
    database.exec('DELETE FROM idempotent_answers')
    database.close()
    expect((await adjust({ amount_cents: -5, note: 'Once' }, { headers })).json.balance_after_cents).toBe(before - 5)
    expect(await adjust({ amount_cents: 5, note: 'Once' }, { headers })).toMatchObject({
      status: 409,
      json: { code: 'request/reused-key' },
    })
    expect((await readBalance()).balance_cents).toBe(before - 5)
  })

  const demand = '`amount_cents` must be a whole number of cents from -100000000 to 100000000, and not 0.'
  test.each([
    [{ amount_cents: 0, note: 'x' }, demand],
    [{ amount_cents: 0.5, note: 'x' }, demand],
    [{ amount_cents: -1e9, note: 'x' }, demand],
    [{ amount_cents: 1 }, '`note` is required.'],
    [{ amount_cents: 1, note: ' ' }, '`note` must not be empty.'],
  ])('is refused: %j', async (body, error) => {
    expect(await adjust(body)).toMatchObject({ status: 400, json: { error } })
  })

  test('is rejected for callers other than the owner, unknown recipients and keys with limits', async () => {
    const body = { amount_cents: 1, note: 'x' }
    expect((await adjust(body, { key: ada.key })).status).toBe(403)
    expect((await adjust(body, { key: null })).status).toBe(401)
    expect((await adjust({ ...body, to_address: 'acct_nobody' })).status).toBe(404)
    const limited = await service.send('/v1/auth/api-keys', { body: { name: 'limited', daily_limit_cents: 10 } })
    expect((await adjust(body, { key: limited.json.key })).status).toBe(403)
  })
})

test('a change notifies only the accounts involved', async () => {
  const [bob, eve] = [secondAccount(service.dataDir), secondAccount(service.dataDir)]
  const listen = (key: string) =>
    openSocket(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } })
  const sockets = await Promise.all([bob, eve].map(({ key }) => listen(key)))
  const [ofBob, ofEve] = sockets
  if (!ofBob || !ofEve) throw new Error('Two were opened.')
  for (const socket of sockets) await findMessage(socket, { type: 'ready' })
  for (let index = 0; index < 20; index += 1) {
    await service.send('/v1/credits/grants', { body: { to_address: bob.accountId, amount_cents: 1 } })
  }
  await findMessage(ofBob, { type: 'credits.changed' })
  await service.send('/v1/automatons/nonce', { key: eve.key, body: {} })
  await eventually(async () => expect((await get('balance', bob.key)).balance_cents).toBe(20))
  expect(JSON.stringify(ofBob.messages).match(/credits.changed/g)?.length).toBeLessThan(20)
  expect(JSON.stringify(ofEve.messages)).not.toContain('credits.changed')
  for (const socket of sockets) socket.close()
})
