import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { createPayingAgent, noLimits, type PayingAgent, passphrase } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/** Domains renewed from the wallet before they expire, at a real service with its registry and test money. */
const dayMs = 24 * 3600 * 1000
const price = 11_950_000
let aheadMs = 0
let paying: PayingAgent
let names = 0
let domain: string

beforeAll(async () => {
  paying = await createPayingAgent({ now: () => Date.now() + aheadMs })
})
afterAll(() => paying?.close())
beforeEach(async () => {
  paying.setPolicy([rule({ effect: 'allow' })])
  setLimits({})
  domain = await registerDomain('expiring-n')
})
afterEach(async () => {
  await set({ enabled: false })
})

/** Registers a domain. Labels that start with `expiring-` expire after a week. */
async function registerDomain(prefix: string): Promise<string> {
  const name = `${prefix}${++names}.com`
  const { json } = await paying.post('/local/payments/domains/register', {
    domain: name,
    price_usd: 10.95,
    wait_ms: 20_000,
  })
  expect(json.payment?.state, JSON.stringify(json)).toBe('settled')
  await eventually(async () => {
    const { json: list } = await paying.agent.send('/local/domains')
    expect(list.domains.map((it: Json) => it.domain)).toContain(name)
  })
  return name
}
const setLimits = (limits: object) =>
  createPaymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false, ...limits })
const set = (change: object, target = domain) =>
  paying.agent.send(`/local/domains/${target}/renewal`, {
    method: 'PUT',
    body: { enabled: true, days_before: 30, years: 1, max_micro_usd: 20_000_000, ...change },
  })
const all = async () => (await paying.agent.send('/local/domains/renewals')).json
const renewal = async (target = domain) => (await all()).renewals.find((it: Json) => it.domain === target)
const retry = () => paying.post(`/local/domains/${domain}/renewal/retry`, {})
const expiry = async (target = domain) => Date.parse((await paying.agent.send(`/v1/domains/${target}`)).json.expires_at)
const listPayments = async (target = domain) =>
  (await paying.agent.send(`/local/payments?search=${encodeURIComponent(`Renew ${target}`)}`)).json.payments as Json[]
const entries = async (kind: string) =>
  (await paying.agent.send('/local/activity?limit=100')).json.entries.filter((it: Json) => it.kind === kind) as Json[]
const becomes = (state: string) => eventually(async () => expect((await renewal())?.state).toBe(state))

test('renews a due domain once at its price and notifies the user', async () => {
  const [before, until] = [await paying.money(), await expiry()]
  expect((await set({})).status).toBe(200)
  await eventually(async () => expect(await expiry()).toBeGreaterThan(until + 360 * dayMs))
  await eventually(async () => expect((await renewal()).state).toBe('planned'))
  expect(before - (await paying.money())).toBe(price)
  expect(await listPayments()).toMatchObject([{ requester: { kind: 'agent', id: 'auto-renew' }, state: 'settled' }])
  await paying.restart()
  await retry()
  expect(await listPayments()).toHaveLength(1)
  expect(before - (await paying.money())).toBe(price)
  expect((await entries('renewal.done')).some(({ subject }) => subject === domain)).toBe(true)
})

test('a domain that is not due waits and is renewed on its due day', async () => {
  const name = await registerDomain('later-n')
  await set({}, name)
  expect((await renewal(name)).state).toBe('planned')
  const until = await expiry(name)
  expect(Date.parse((await renewal(name)).renews_at)).toBe(until - 30 * dayMs)
  expect(await listPayments(name)).toEqual([])
  aheadMs = until - 29 * dayMs - Date.now()
  try {
    // Advances the clock until the wallet locks automatically.
    await paying.post(`/local/domains/${name}/renewal/retry`, {})
    expect((await renewal(name)).problem.kind).toBe('locked')
    await paying.agent.wallet.unlock(passphrase)
    await eventually(async () => expect(await expiry(name)).toBeGreaterThan(until + 360 * dayMs))
    expect(await listPayments(name)).toHaveLength(1)
  } finally {
    aheadMs = 0
    await set({ enabled: false }, name)
  }
})

describe('a blocked renewal notifies once, costs nothing and is retried', () => {
  test.each([
    ['the price is above the most', 'price', { max_micro_usd: price - 1 }, {}],
    ['a budget is used up', 'budget', {}, { payment_micro_usd: price - 1 }],
    ['the limit of the month is below it', 'budget', {}, { month_micro_usd: 1 }],
  ])('%s', async (_, kind, change, limits) => {
    setLimits(limits)
    const before = await paying.money()
    await set(change)
    await becomes('blocked')
    expect((await renewal()).problem.kind).toBe(kind)
    expect((await renewal()).problem.detail).toMatch(/\$1[12]\.9|\$0\.00/)
    const title = `${domain} was not renewed`
    const countNotices = () =>
      paying.agent.events.filter((event) => event.type === 'domains.notice' && event.title === title)
    expect(countNotices()).toHaveLength(1)
    await retry()
    expect(countNotices()).toHaveLength(1)
    expect((await entries('renewal.failed')).filter(({ subject }) => subject === domain)).toHaveLength(1)
    expect(await listPayments()).toEqual([])
    setLimits({})
    await set({})
    await eventually(async () => expect(before - (await paying.money())).toBe(price))
    await becomes('planned')
  })

  test('the wallet is locked, until the user unlocks it', async () => {
    paying.agent.wallet.lock('person')
    await set({})
    await becomes('blocked')
    expect((await renewal()).problem).toEqual({
      kind: 'locked',
      detail: 'The wallet is locked. Unlock it to renew.',
    })
    const until = await expiry()
    await paying.agent.wallet.unlock(passphrase)
    await eventually(async () => expect(await expiry()).toBeGreaterThan(until))
    expect(await listPayments()).toHaveLength(1)
  })

  test('the intervals between retries grow', async () => {
    await set({ max_micro_usd: 1 })
    await becomes('blocked')
    const hours: number[] = []
    for (let tries = 0; tries < 5; tries += 1) {
      hours.push(Math.round((Date.parse((await renewal()).next_at) - Date.now()) / 3_600_000))
      await retry()
    }
    expect(hours).toEqual([1, 4, 12, 24, 24])
  })
})

describe('a renewal whose policy requires approval', () => {
  beforeEach(() => paying.setPolicy([]))

  test('waits for approval and is paid after approval', async () => {
    const until = await expiry()
    await set({})
    await becomes('asking')
    const [payment] = await listPayments()
    expect(payment).toMatchObject({ state: 'waiting', reason: expect.stringContaining(`Auto-renew: ${domain}`) })
    await retry()
    expect(await listPayments()).toHaveLength(1)
    await paying.approve(payment)
    await eventually(async () => expect(await expiry()).toBeGreaterThan(until))
    expect(await listPayments()).toHaveLength(1)
  })

  test('is not requested again for this expiry after a denial until settings change', async () => {
    await set({})
    await becomes('asking')
    const [payment] = await listPayments()
    await paying.post(`/local/intents/${payment?.intent_id}/decision`, { approve: false })
    await becomes('declined')
    await retry()
    expect(await listPayments()).toHaveLength(1)
    await set({ days_before: 29 })
    await becomes('asking')
    expect(await listPayments()).toHaveLength(2)
  })

  test('withdraws its request when renewal is turned off', async () => {
    await set({})
    await becomes('asking')
    await set({ enabled: false })
    await becomes('off')
    expect((await listPayments())[0]).toMatchObject({ state: 'refused', paid: false })
  })

  test('does not renew a manually renewed domain again if the old request is approved', async () => {
    const before = await paying.money()
    await set({})
    await becomes('asking')
    const [payment] = await listPayments()
    paying.setPolicy([rule({ effect: 'allow' })])
    const { json } = await paying.post('/local/payments/domains/renew', {
      ...{ domain, price_usd: 11.95, wait_ms: 20_000 },
    })
    expect(json.payment.state).toBe('settled')
    await paying.approve(payment)
    await eventually(async () => expect((await paying.payment(payment?.id, 20_000)).paid).toBe(false))
    expect(before - (await paying.money())).toBe(price)
    await eventually(async () => expect((await renewal()).state).toBe('planned'))
  })
})

test('notifies once for each expiry threshold in days and can be dismissed', async () => {
  await eventually(async () => expect((await all()).notices.map((it: Json) => it.domain)).toContain(domain))
  expect((await all()).notices.find((it: Json) => it.domain === domain).days).toBe(7)
  const findNotices = () =>
    paying.agent.events.filter(
      (event) => event.type === 'domains.notice' && event.domain === domain && event.title.includes('expires'),
    )
  expect(findNotices()).toHaveLength(1)
  expect(findNotices()[0]).toMatchObject({ title: `${domain} expires in 7 days` })
  await paying.restart()
  await retry()
  expect(findNotices()).toHaveLength(0)
  expect((await all()).notices.map((it: Json) => it.domain)).toContain(domain)
  await paying.post('/local/domains/notices/dismiss', {})
  expect((await all()).notices).toEqual([])
  aheadMs = (await expiry()) - dayMs / 2 - Date.now()
  await retry()
  // Domains of other tests expire too. All are combined in one notification.
  const together = paying.agent.events.filter((event) => event.type === 'domains.notice' && /expire/.test(event.title))
  expect(together).toHaveLength(1)
  expect((await all()).notices.find((it: Json) => it.domain === domain).days).toBe(1)
  aheadMs = 0
})

test('another account that signs in sees and renews no domain of the first account', async () => {
  await set({ max_micro_usd: 1 })
  await becomes('blocked')
  const otherAccount = secondAccount(paying.service.dataDir)
  paying.agent.connect({ url: paying.service.url, key: otherAccount.key, certificate: undefined })
  await eventually(async () => expect((await paying.agent.send('/v1/auth/me')).json.id).toBe(otherAccount.accountId))
  await eventually(async () => expect(await all()).toMatchObject({ renewals: [], notices: [] }))
  expect([(await set({})).status, (await retry()).status]).toEqual([404, 404])
  paying.agent.connect({ url: paying.service.url, key: paying.service.key, certificate: undefined })
  await eventually(async () => expect((await renewal())?.state).toBe('blocked'))
})

test('rejects invalid settings by name', async () => {
  for (const [change, word] of [
    [{ years: 11 }, 'years'],
    [{ days_before: 0 }, 'days_before'],
    [{ days_before: 91 }, 'days_before'],
    [{ max_micro_usd: 0 }, 'max_micro_usd'],
  ] as const) {
    const { status, json } = await set(change)
    expect([status, json.code]).toEqual([400, 'request/invalid'])
    expect(json.error).toContain(word)
  }
})

test('reports a missing wallet after its removal and requests approval again after its return', async () => {
  paying.setPolicy([rule({ effect: 'ask' })])
  await set({})
  await becomes('asking')
  const [payment] = await listPayments()
  const { wallet } = paying.agent
  const [keyring] = (await wallet.status()).keyrings
  if (!keyring) throw new Error('There is no phrase.')
  const phrase = await wallet.revealPhrase(keyring.id, passphrase)
  await wallet.remove(keyring.id, { typedLabel: keyring.label, passphrase })
  await becomes('blocked')
  expect((await renewal()).problem).toMatchObject({ kind: 'wallet', detail: expect.stringMatching(/wallet/) })
  expect((await all()).possible).toBe(false)
  expect(await paying.payment(payment?.id)).toMatchObject({
    ...{ state: 'refused', paid: false, error: `You removed “${keyring.label}” from the wallet.` },
  })
  await wallet.addPhrase({ phrase, writtenDown: true, passphrase })
  await becomes('asking')
})
