import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolCaller } from '#agent/base/toolCaller.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createToolCaller } from '../support/clients/mcpClients.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/** Purchases from the real service with the wallet, through approvals and limits. */
let paying: PayingAgent
let names = 0
const fresh = (prefix = 'mine') => `${prefix}-${++names}.com`

beforeAll(async () => {
  paying = await createPayingAgent()
  paying.setPolicy([])
})
afterAll(() => paying?.close())

const buy = async (path: string, body: object, headers = {}) => {
  const intent = await paying.post(path, body, headers)
  expect(intent.status, intent.text).toBe(200)
  const { payment } = intent.json
  if (payment.state !== 'waiting') return payment
  const decided = await paying.approve(payment)
  expect(decided.status, decided.text).toBe(200)
  return paying.payment(payment.id, 20_000)
}

test('a user tops up with a price, an approval and a payment for credits', async () => {
  const quote = await paying.post('/local/payments/quote', { topup: { amount_usd: 5 } })
  expect(quote.json).toMatchObject({ needs_payment: true, chosen: 0, verdict: { effect: 'ask' } })
  expect(quote.json.offers[0]).toMatchObject({
    scheme: 'exact',
    amount_micro_usd: 5_000_000,
    payable: true,
    test: true,
  })
  const before = { money: await paying.money(), credits: await paying.credits() }

  const intent = await paying.post('/local/payments/topup', { amount_usd: 5 })
  expect(intent.json).toMatchObject({ answer: null, payment: { state: 'waiting', paid: null, purpose: 'credits' } })
  expect(await paying.money()).toBe(before.money)
  const { payment } = intent.json
  expect((await paying.approve(payment)).json).toMatchObject({ state: 'signed' })
  const paid = await paying.payment(payment.id, 20_000)

  expect(paid).toMatchObject({
    state: 'settled',
    paid: true,
    paid_micro_usd: 5_000_000,
    sentence: '5.00 test USDC was paid.',
    receipt: { success: true },
    answer: { status: 200, truncated: false },
    quote: { amount_micro_usd: 5_000_000 },
  })
  expect(JSON.parse(paid.answer.body)).toMatchObject({ success: true, credits_cents: 500, tx_hash: paid.transaction })
  expect(paid.steps.map(({ state }: { state: string }) => state)).toEqual([
    'waiting',
    'planned',
    'signed',
    'sent',
    'settled',
  ])
  expect(before.money - (await paying.money())).toBe(5_000_000)
  expect((await paying.credits()) - before.credits).toBe(500)
})

test('registers and renews a domain only at the displayed price', async () => {
  const domain = fresh()
  const registration = { domain, years: 2 }
  const dear = await paying.post('/local/payments/domains/register', { ...registration, price_usd: 22.89 })
  expect([dear.status, dear.json.code]).toEqual([409, 'purchase/price'])
  const before = await paying.money()
  const paid = await buy('/local/payments/domains/register', { ...registration, price_usd: 22.9 })
  expect(paid, JSON.stringify(paid)).toMatchObject({
    state: 'settled',
    title: `Register ${domain} for 2 years`,
    answer: { status: 201 },
  })
  const renewed = await buy('/local/payments/domains/renew', { domain, price_usd: 11.95 })
  expect(renewed).toMatchObject({ state: 'settled', purpose: 'domain-renewal' })
  expect(before - (await paying.money())).toBe(22_900_000 + 11_950_000)
  const response = await paying.post('/local/payments/domains/register', registration)
  expect([response.status, response.json.code]).toEqual([409, 'domain/taken'])
})

test('reports the credits from a payment whose order failed', async () => {
  const before = await paying.credits()
  const paid = await buy('/local/payments/domains/register', {
    domain: fresh('taken-at-purchase'),
    price_usd: 10.95,
  })
  expect(paid).toMatchObject({ state: 'settled', paid: true, error: expect.stringContaining('responded with status') })
  expect(JSON.parse(paid.answer.body).credited_cents).toBe(1095)
  expect((await paying.credits()) - before).toBe(1095)
})

test('returns the same payment for the same Idempotency-Key, even after a restart', async () => {
  const headers = { 'idempotency-key': 'top-up-once' }
  const before = await paying.money()
  const [first, second] = await Promise.all([
    paying.post('/local/payments/topup', { amount_usd: 5 }, headers),
    paying.post('/local/payments/topup', { amount_usd: 5 }, headers),
  ])
  expect(first.json.payment.id).toBe(second.json.payment.id)
  await paying.restart()
  await paying.approve(first.json.payment)
  const paid = await paying.payment(first.json.payment.id, 20_000)
  expect(paid).toMatchObject({ state: 'settled' })
  const third = await paying.post('/local/payments/topup', { amount_usd: 5 }, headers)
  expect(third.json).toMatchObject({ payment: { id: paid.id, state: 'settled' }, answer: { status: 200 } })
  expect(before - (await paying.money())).toBe(5_000_000)
})

test('never pays a denied request', async () => {
  const before = await paying.money()
  const { payment } = (await paying.post('/local/payments/topup', { amount_usd: 5 })).json
  await paying.post(`/local/intents/${payment.intent_id}/decision`, { approve: false })
  expect(await paying.payment(payment.id, 20_000)).toMatchObject({
    state: 'refused',
    paid: false,
    error: 'You denied it.',
    sentence: 'Nothing was paid.',
  })
  expect(await paying.money()).toBe(before)
})

test('lists, finds and exports payments', async () => {
  const { json } = await paying.agent.send('/local/payments?limit=2')
  expect(json).toMatchObject({ has_more: true, payments: [{ state: 'refused' }, { state: 'settled' }] })
  const next = await paying.agent.send(`/local/payments?limit=200&before=${json.payments[1].id}`)
  expect(next.json.payments).toHaveLength(json.total - 2)
  const page = await paying.agent.send('/local/payments?search=RENEW&state=settled')
  expect(page.json.payments).toMatchObject([{ purpose: 'domain-renewal' }])
  const csv = (await paying.agent.send('/local/payments/export?format=csv')).text.split('\r\n')
  expect(csv).toHaveLength(json.total + 2)
  const lines = (await paying.agent.send('/local/payments/export?format=jsonl&state=refused')).text.trim().split('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ state: 'refused' })
})

test('shows the paying account with its balance', async () => {
  const ledger = await paying.agent.send('/local/wallet/info?network=eip155:31337')
  expect(ledger.json).toMatchObject({ address: paying.address, usdc: String(await paying.money()), deposit_link: null })
  const links = await Promise.all(
    ['base', 'solana'].map(async (network) => (await paying.agent.send(`/local/wallet/info?network=${network}`)).json),
  )
  const [base, solana] = links
  expect(base?.deposit_link).toBe(
    `ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=${paying.address}`,
  )
  expect(solana).toMatchObject({
    chain_id: null,
    usdc_balance: null,
    source: 'stale',
    deposit_link: `solana:${solana?.address}?spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`,
  })
})

describe('payments by a tool', () => {
  const caller = (daily_budget_micro_usd: number | null = null): Promise<ToolCaller> =>
    createToolCaller(paying.agent, { name: 'Buyer', profile: 'domains', daily_budget_micro_usd })
  const run = (name: string, input: object, by: ToolCaller) =>
    paying.agent.tools.runTool(name, input, {
      caller: by,
      signal: new AbortController().signal,
      waitMs: { person: 0, program: 20_000 },
    })

  test('a domain waits for approval, is paid once despite retries and appears in approval_status', async () => {
    const input = { domain: fresh('tool') }
    const by = await caller()
    const before = await paying.money()
    const [pendingCall, again] = [await run('domain_register', input, by), await run('domain_register', input, by)]
    expect(pendingCall).toMatchObject({
      kind: 'waiting',
      waiting: { for: 'person', id: expect.stringMatching(/^pay_/) },
    })
    expect(again).toEqual(pendingCall)
    expect(await paying.money()).toBe(before)
    const id = pendingCall.kind === 'waiting' ? pendingCall.waiting.id : ''
    await paying.approve(await paying.payment(id))
    await paying.payment(id, 20_000)
    const status = await run('approval_status', { id }, by)
    expect(status).toMatchObject({ kind: 'result', result: { state: 'settled', result: { answer: { status: 201 } } } })
    const result = await run('domain_register', input, by)
    expect(result).toMatchObject({ kind: 'result', result: { success: true, domain: input.domain, payment: { id } } })
    expect(before - (await paying.money())).toBe((await paying.payment(id)).paid_micro_usd)
  })

  test('a waiting payment and a waiting call execute once when approved after a restart', async () => {
    const [domain, bought] = [fresh('owned'), fresh('restart')]
    const { id: accountId } = (await paying.service.send('/v1/auth/me')).json
    seedDomain(paying.service.dataDir, { accountId, name: domain })
    const nameservers = ['ns1.example.net', 'ns2.example.net']
    const by = await caller()
    const [payment, change] = [
      await run('domain_register', { domain: bought }, by),
      await run('domain_nameservers', { domain, nameservers }, by),
    ]
    if (payment.kind !== 'waiting' || change.kind !== 'waiting') throw new Error('They did not wait.')
    const before = await paying.money()
    await paying.restart()
    const { intents } = (await paying.agent.send('/local/intents?state=waiting')).json
    const find = (kind: string) =>
      intents.find((intent: Json) => intent.kind === kind && intent.requester.id === by.requester.id)
    for (const kind of ['x402.authorize', 'tool.call']) {
      expect((await paying.post(`/local/intents/${find(kind).id}/decision`, { approve: true })).status).toBe(200)
    }
    const status = (id: string) => run('approval_status', { id }, by)
    const paid = await paying.payment(payment.waiting.id, 20_000)
    expect(paid).toMatchObject({ state: 'settled', paid: true })
    expect(before - (await paying.money())).toBe(paid.paid_micro_usd)
    expect(await status(payment.waiting.id)).toMatchObject({
      result: { state: 'settled', result: { answer: { status: 201 } } },
    })
    await eventually(async () => expect((await status(change.waiting.id)).kind).toBe('result'))
    const { json } = await paying.service.send(`/domains/${domain}`)
    expect(json.nameservers).toEqual(nameservers)
    await paying.restart()
    expect(before - (await paying.money())).toBe(paid.paid_micro_usd)
    const owned = (await paying.service.send('/domains')).json.domains.map((it: Json) => it.domain)
    expect(owned.filter((it: string) => it === bought)).toHaveLength(1)
  })

  test('refuses purchases beyond the client budget, which stays reserved during a wait', async () => {
    const by = await caller(12_000_000)
    const dear = await run('domain_register', { domain: fresh('dear'), years: 5 }, by)
    expect(dear).toMatchObject({ kind: 'error', code: 'tool/budget' })
    const first = await run('domain_register', { domain: fresh('held') }, by)
    expect(first.kind).toBe('waiting')
    expect(await run('domain_register', { domain: fresh('held') }, by)).toMatchObject({ code: 'tool/budget' })
    const payment = await paying.payment(first.kind === 'waiting' ? first.waiting.id : '')
    await paying.post(`/local/intents/${payment.intent_id}/decision`, { approve: false })
    await paying.payment(payment.id, 20_000)
    expect((await run('domain_register', { domain: fresh('held') }, by)).kind).toBe('waiting')
  })
})

test('applies a limit before requesting approval and applies a lower limit immediately', async () => {
  const set = await paying.budgets({ ...noLimits, payment_micro_usd: 4_000_000 })
  expect(set.status, set.text).toBe(200)
  const refused = await paying.post('/local/payments/topup', { amount_usd: 5 })
  expect([refused.status, refused.json.code, refused.json.error]).toEqual([
    402,
    'budget/exceeded',
    'Not paid: The payment is above your limit of $4.00 per payment.',
  ])
  const looser = await paying.budgets(noLimits)
  expect([looser.status, looser.json.code]).toEqual([403, 'policy/confirmation'])
  expect((await paying.budgets()).json.limits.payment_micro_usd).toBe(4_000_000)
})
