import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpClient, toolClient } from '../support/clients/mcpClients.ts'
import { hostileSeller, respond } from '../support/fakes/hostileSeller.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'

/** A program's daily budget holds whatever a seller responds, and a repeated call never pays twice. */
let paying: PayingAgent
let atMs = Date.now()
const clients: McpClient[] = []
const usd = 1_000_000

beforeAll(async () => {
  paying = await createPayingAgent({ now: () => atMs })
  paying.setPolicy([
    { id: 'all', effect: 'allow', kind: 'x402.authorize', requester: '*', host: '*', max_amount_micro_usd: null },
  ])
  createPaymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
})
afterAll(async () => {
  for (const { client } of clients) await client.close()
  await paying?.close()
})

async function openClient(dailyUsd: number | null) {
  const daily_budget_micro_usd = dailyUsd === null ? null : dailyUsd * usd
  const { key, client: made } = await toolClient(paying.agent, { daily_budget_micro_usd })
  const client = await createMcpClient({ url: `${paying.agent.origin}/mcp`, key })
  clients.push(client)
  return {
    call: client.call,
    async spent(): Promise<number> {
      const all = (await paying.agent.send('/local/tools/clients')).json.clients
      return all.find(({ id }: { id: string }) => id === made.id).spent_today_micro_usd
    },
  }
}

const oneDollar = { maxAmountRequired: String(usd), maxTimeoutSeconds: 300 }
const refusing = () =>
  hostileSeller((_, response) => {
    response.writeHead(402, { 'content-type': 'application/json' })
    response.end('{"error":"invalid_payload"}')
  }, oneDollar)
const nameSeller = (seller: { url: string }) => paying.nameServers(new URL(seller.url).host)

describe('a seller that refuses a payment but retains the signature', () => {
  test('reserves no more than the daily budget', async () => {
    const seller = await refusing()
    nameSeller(seller)
    const { call, spent } = await openClient(2.5)
    const texts: string[] = []
    for (let index = 0; index < 5; index += 1)
      texts.push((await call('x402_fetch', { url: `${seller.url}/p?i=${index}` })).text)
    expect([seller.signatures(), await spent()]).toEqual([2, 2 * usd])
    for (const text of texts.slice(0, 2)) {
      expect(text).toMatch(/The seller can still settle it until \d\d:\d\d UTC\./)
      expect(text).toContain('"paid": null')
      expect(text).not.toContain('Nothing was paid')
    }
    expect(texts[2]).toContain('$0.50 left')
  })

  test('is not paid again by the same call, even minutes later', async () => {
    const seller = await refusing()
    nameSeller(seller)
    const { call } = await openClient(10)
    const first = (await call('x402_fetch', { url: `${seller.url}/same` })).text
    atMs += 200_000
    expect((await call('x402_fetch', { url: `${seller.url}/same` })).text).toBe(first)
    expect(seller.signatures()).toBe(1)
    await call('x402_fetch', { url: `${seller.url}/other` })
    expect(seller.signatures()).toBe(2)
  })
})

test('an order that fails after payment counts and its payment is reported', async () => {
  const { call, spent } = await openClient(12)
  const before = await paying.money()
  const answers = []
  for (let index = 0; index < 3; index += 1)
    answers.push(await call('domain_register', { domain: `taken-at-purchase-${index}.com` }))
  const paid = before - (await paying.money())
  expect(paid).toBe(await spent())
  expect(paid).toBeLessThanOrEqual(12 * usd)
  expect(answers[0]?.isError).toBe(true)
  expect(answers[0]?.text).toMatch(/"id": "pay_[0-9a-f]{24}"/)
  expect(answers[0]?.text).toContain('"paid": true')
  expect(answers[0]?.text).not.toContain('Nothing was paid')
  expect(answers.at(-1)?.text).toContain('left of this client')
})

test('payments count once and requests refused before signing do not count', async () => {
  const seller = await hostileSeller(respond, oneDollar)
  nameSeller(seller)
  const { call, spent } = await openClient(10)
  expect((await call('x402_fetch', { url: `${seller.url}/a` })).result.payment).toMatchObject({ paid: true })
  expect(await spent()).toBe(usd)
  paying.setPolicy([])
  const waits = await call('x402_fetch', { url: `${seller.url}/b` })
  expect(waits.result.waiting.for).toBe('person')
  expect(await spent()).toBe(2 * usd)
  const { intents } = (await paying.agent.send('/local/intents?state=waiting')).json
  await paying.post(`/local/intents/${intents[0].id}/decision`, { approve: false })
  await eventually(async () => expect(await spent()).toBe(usd))
  expect((await call('x402_fetch', { url: `${seller.url}/b` })).text).toContain('Nothing was paid.')
})
