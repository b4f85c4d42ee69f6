import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { rule } from '../support/approvals.ts'
import { noLimits, type PayingAgent, payingAgent } from '../support/payingAgent.ts'
import { plantedDomain } from '../support/plantedDomain.ts'
import { projectFolder } from '../support/plantedTree.ts'
import type { Json } from '../support/runningService.ts'

/** The agent is killed at every step of an automatic renewal: the next run ends it, and the domain is renewed and paid once. */
const price = 11_950_000
const dayMs = 24 * 3600 * 1000
let paying: PayingAgent
let accountId: string

beforeAll(async () => {
  paying = await payingAgent()
  paying.setPolicy([rule({ effect: 'allow' })])
  paymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
  accountId = (await paying.service.send('/v1/auth/me')).json.id
  await paying.agent.close()
})
afterAll(() => paying?.close())

const nameOf = (at: string) => `crash-${at}.com`

async function run(at: string, before = ''): Promise<{ found: Json; end: string | undefined }> {
  const { dataFolder, service } = paying
  plantedDomain(service.dataDir, { accountId, name: nameOf(at), expiresAtMs: Date.now() + 10 * dayMs })
  const program = join(projectFolder, 'test/support/crashingRenewal.ts')
  const given = [program, dataFolder, service.url, service.key, at, before && nameOf(before), nameOf(at)]
  const [found, end] = await new Promise<string[]>((resolve) => {
    execFile(process.execPath, given, (_, stdout, stderr) => resolve([...stdout.trim().split('\n'), stderr]))
  })
  if (found === undefined || !found.startsWith('{')) throw new Error(`The run ${at} told nothing: ${end}`)
  return { found: JSON.parse(found), end: end === '' ? undefined : end }
}

test('wherever it is killed, the domain is renewed once, and money and limits agree', async () => {
  await run('never')
  const writes = Number((await run('never-again', 'never')).end)
  expect(writes).toBeGreaterThan(8)
  // Most transactions have two to four writes: every third one meets each of them.
  const steps = Array.from({ length: writes }, (_, index) => index + 1).filter((step) => step % 3 === 1)
  const points = [...steps.map(String), 'sent', 'flushed']
  let before = { at: 'never-again', usdc: Number.NaN }
  for (const at of [...points, 'end']) {
    const { found, end } = await run(at, before.at)
    expect([before.at, found]).toMatchObject([before.at, { years: 1, paid: 1, open: 0, held: 0 }])
    if (!Number.isNaN(before.usdc)) expect([before.at, before.usdc - Number(found.usdc)]).toEqual([before.at, price])
    expect([at, end === undefined]).toEqual([at, at !== 'end'])
    before = { at, usdc: Number(found.usdc) }
  }
})
