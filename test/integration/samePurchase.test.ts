import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { noLimits } from '../support/processes/payingAgent.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { type Answer, runningService, type TestService } from '../support/processes/runningService.ts'

/** Several requesters buy the same domain from a real service with test money. Only one payment is made. */
let service: TestService
let agent: RunningAgent
let key: string
let names = 0
const wallet = evmWallet()
const passphrase = 'several plain words'
const dataFolder = temporaryFolder('same-purchase')

beforeAll(async () => {
  service = await runningService({ payments: { facilitator: { kind: 'test-ledger' } } })
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await agent.wallet.addPrivateKey({ privateKey: wallet.privateKey, chainType: 'evm', passphrase })
  agent.wallet.setAutoLock(null)
  for (let count = 0; count < 2; count += 1) {
    await service.send('/v1/payments/faucet', { body: { address: wallet.address } })
  }
  key = (await service.send('/v1/auth/api-keys', { body: { name: 'a program' } })).json.key
  createPaymentBudgetRepository(agent.database).setLimits({
    ...noLimits,
    day_micro_usd: 900_000_000,
    ask_first_payee: false,
  })
  setRules('ask')
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

function setRules(effect: 'ask' | 'allow') {
  agent.approvals.changePolicy({
    ...{ rules: [rule({ effect, kind: 'x402.authorize' })], confirm_above_micro_usd: '100000000' },
    expiry_minutes: 60,
  })
}
const newName = () => `same-${++names}.com`
const money = async () => Number((await service.send(`/v1/payments/balance/${wallet.address}`)).json.balance)
const credits = async () => (await service.send('/v1/credits/balance')).json.balance_cents
const asPerson = (path: string, body: object) => agent.send(path, { body })
/** Sends as a program does, with an API key and without the session. */
const asProgram = (path: string, body: object): Promise<Answer> =>
  agent.send(path, { body, headers: { cookie: '', 'x-steward-window': '', 'x-api-key': key } })
const register = '/local/payments/domains/register'
const approve = (intentId: string) => agent.send(`/local/intents/${intentId}/decision`, { body: { approve: true } })
const readPayment = async (id: string) => (await agent.send(`/local/payments/${id}?wait_ms=20000`)).json

async function askTwice(body: object, path = register) {
  const first = await asPerson(path, body)
  const second = await asProgram(path, body)
  expect([first.json.payment?.state, second.json.payment?.state], second.text).toEqual(['waiting', 'waiting'])
  return [first.json.payment, second.json.payment] as const
}

test('requests by two requesters for one domain refer to the same purchase', async () => {
  const domain = newName()
  const [first, second] = await askTwice({ domain })
  const { intents } = (await agent.send('/local/intents?state=waiting')).json
  const purchases = [first, second].map(
    ({ intent_id: id }) => intents.find((it: { id: string }) => it.id === id).purchase,
  )
  expect(purchases).toEqual([`domain:${domain}`, `domain:${domain}`])
  for (const { intent_id: id } of [first, second]) {
    await agent.send(`/local/intents/${id}/decision`, { body: { approve: false } })
  }
})

test('pays only one of two requests for the same domain approved concurrently', async () => {
  const domain = newName()
  const [first, second] = await askTwice({ domain })
  const before = { money: await money(), credits: await credits() }
  await Promise.all([approve(first.intent_id), approve(second.intent_id)])
  const ended = await Promise.all([readPayment(first.id), readPayment(second.id)])
  expect(ended.map(({ paid }) => paid).sort()).toEqual([false, true])
  expect(before.money - (await money())).toBe(10_950_000)
  expect(await credits()).toBe(before.credits)
  const loser = (await agent.send(`/local/intents/${ended.find(({ paid }) => !paid)?.intent_id}`)).json
  expect(loser.error).toMatch(
    new RegExp(`Another request to register ${domain} (is being|was) paid|${domain} is taken`),
  )
  expect(loser.result).toBeNull()
})

test('denies a waiting request with a reason once another has bought its domain', async () => {
  const domain = newName()
  const [first, second] = await askTwice({ domain })
  await approve(second.intent_id)
  expect(await readPayment(second.id)).toMatchObject({ state: 'settled', paid: true })
  await eventually(async () =>
    expect((await agent.send(`/local/intents/${first.intent_id}`)).json).toMatchObject({
      state: 'denied',
      error: `Another request to register ${domain} was paid.`,
    }),
  )
  expect((await approve(first.intent_id)).status).toBe(409)
})

test('two renewals for the same term result in one payment', async () => {
  const domain = newName()
  const bought = (await asPerson(register, { domain })).json.payment
  await approve(bought.intent_id)
  await readPayment(bought.id)
  const [first, second] = await askTwice({ domain, years: 1 }, '/local/payments/domains/renew')
  const before = await money()
  await Promise.all([approve(first.intent_id), approve(second.intent_id)])
  const ended = await Promise.all([readPayment(first.id), readPayment(second.id)])
  expect(ended.map(({ paid }) => paid).sort()).toEqual([false, true])
  expect(before - (await money())).toBe(11_950_000)
})

test('a program allowed by a rule pays once for repeated requests', async () => {
  const domain = newName()
  setRules('allow')
  const before = await money()
  await Promise.all(Array.from({ length: 4 }, () => asProgram(register, { domain, price_usd: 10.95 })))
  await eventually(async () => {
    const { payments } = (await agent.send(`/local/payments?search=${domain}`)).json
    const paid = payments.map((it: { paid: boolean | null }) => it.paid)
    expect(paid.filter((it: boolean | null) => it !== false)).toEqual([true])
  })
  setRules('ask')
  expect(before - (await money())).toBe(10_950_000)
})

test('signs and counts nothing for a domain whose sandbox was deleted meanwhile', async () => {
  const domain = newName()
  const sandbox = (await service.send('/v1/sandboxes', { body: { name: 'home' } })).json
  await service.send(`/v1/sandboxes/${sandbox.id}/ports`, { body: { port: 3000 } })
  const order = await asPerson(register, { domain, sandbox_id: sandbox.id, sandbox_port: 3000 })
  expect(order.json.payment?.state, order.text).toBe('waiting')
  const readUsed = async () =>
    (await agent.send('/local/payments/budgets')).json.states.map((it: { used_micro_usd: number }) => it.used_micro_usd)
  const before = { money: await money(), used: await readUsed() }
  await service.send(`/v1/sandboxes/${sandbox.id}`, { method: 'DELETE' })
  await approve(order.json.payment.intent_id)
  const intent = (await agent.send(`/local/intents/${order.json.payment.intent_id}`)).json
  expect(['failed', 'denied', 'waiting']).toContain(intent.state)
  expect(intent.result).toBeNull()
  expect(await readPayment(order.json.payment.id)).toMatchObject({ state: 'refused', paid: false })
  expect({ money: await money(), used: await readUsed() }).toEqual(before)
})
