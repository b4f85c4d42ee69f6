import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** A service that charges for sandboxes. */
let service: TestService
let ada: { accountId: string; key: string }
let aheadMs = 0

beforeAll(async () => {
  service = await runningService({ chargeSandboxes: true, now: () => Date.now() + aheadMs })
  ada = secondAccount(service.dataDir)
})
afterAll(() => service?.close())

const send = (path: string, body?: object) => service.send(path, { key: ada.key, ...(body && { body }) })
const charges = async () =>
  (await send('/v1/credits/history')).json.transactions.filter((it: { type: string }) => it.type === 'sandbox')

test('creates a sandbox if one hour is affordable and charges by the second', async () => {
  const refused = await send('/v1/sandboxes', { name: 'paid', memory_mb: 1024 })
  expect([refused.status, refused.json]).toMatchObject([
    402,
    {
      error: 'Insufficient credits',
      code: 'INSUFFICIENT_CREDITS',
      hint: 'Add credits, or choose a smaller sandbox, then try again.',
      details: { required_cents: 2, current_balance_cents: 0 },
    },
  ])
  await service.send('/v1/credits/grants', { body: { to_address: ada.accountId, amount_cents: 10 } })
  const created = await send('/v1/sandboxes', { name: 'paid', memory_mb: 1024 })
  expect([created.status, created.json.cost]).toMatchObject([
    201,
    { tier: 'medium', cents_per_hour: 1.1112, charged: true },
  ])
  aheadMs += 3 * 3_600_000
  const { json: running } = await send(`/v1/sandboxes/${created.json.id}`)
  expect(running.cost.run_cents).toBeGreaterThanOrEqual(3.3333)
  await send(`/v1/sandboxes/${created.json.id}/stop`, {})
  await until('the run to be charged', async () => (await charges()).length === 1)
  const [charge] = await charges()
  expect(charge.description).toMatch(/^paid: medium, 108\d\d s$/)
  expect(charge.amount_cents).toBeLessThanOrEqual(-3.3333)
  expect(charge.amount_cents).toBeGreaterThan(-3.7)
  expect((await send(`/v1/sandboxes/${created.json.id}`)).json.cost.run_cents).toBe(0)
})

test('charges the time during service downtime exactly once', async () => {
  const created = await send('/v1/sandboxes', { name: 'kept' })
  const seconds = async () => {
    const texts = (await charges()).map((charge: { description: string }) =>
      /^kept: small, (\d+) s$/.exec(charge.description),
    )
    return texts.reduce((sum: number, match: RegExpExecArray | null) => sum + Number(match?.[1] ?? 0), 0)
  }
  aheadMs += 3_600_000
  await service.restart()
  await until('the sandbox to be known again', async () => {
    const { json } = await send(`/v1/sandboxes/${created.json.id}`)
    return json.status === 'running'
  })
  aheadMs += 1_800_000
  await send(`/v1/sandboxes/${created.json.id}/stop`, {})
  await until('all of the run to be charged', async () => (await seconds()) >= 5_400)
  expect(await seconds()).toBeLessThan(5_700)
})
