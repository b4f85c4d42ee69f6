import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/**
 * The agent is killed at every step of an automatic renewal. The next run completes it, and the domain is renewed and
 * paid once.
 */
const price = 11_950_000
const dayMs = 24 * 3600 * 1000
let paying: PayingAgent
let accountId: string

beforeAll(async () => {
  paying = await createPayingAgent()
  paying.setPolicy([rule({ effect: 'allow' })])
  createPaymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
  accountId = (await paying.service.send('/v1/auth/me')).json.id
  await paying.agent.close()
})
afterAll(() => paying?.close())

const getName = (crashPoint: string) => `crash-${crashPoint}.com`

async function run(crashPoint: string, before = ''): Promise<{ recovered: Json; end: string | undefined }> {
  const { dataFolder, service } = paying
  seedDomain(service.dataDir, { accountId, name: getName(crashPoint), expiresAtMs: Date.now() + 10 * dayMs })
  const program = join(projectFolder, 'test/support/processes/crashingRenewal.ts')
  const programArguments = [
    program,
    dataFolder,
    service.url,
    service.key,
    crashPoint,
    before && getName(before),
    getName(crashPoint),
  ]
  const [output, end] = await new Promise<string[]>((resolve) => {
    execFile(process.execPath, programArguments, (_, stdout, stderr) => resolve([...stdout.trim().split('\n'), stderr]))
  })
  if (output === undefined || !output.startsWith('{')) throw new Error(`The run ${crashPoint} told nothing: ${end}`)
  return { recovered: JSON.parse(output), end: end === '' ? undefined : end }
}

test('a crash at any write renews the domain once with consistent money and limits', async () => {
  await run('never')
  const writes = Number((await run('never-again', 'never')).end)
  expect(writes).toBeGreaterThan(8)
  // Most transactions have two to four writes, so every third step falls into each of them.
  const steps = Array.from({ length: writes }, (_, index) => index + 1).filter((step) => step % 3 === 1)
  const points = [...steps.map(String), 'sent', 'flushed']
  let before = { at: 'never-again', usdc: Number.NaN }
  for (const crashPoint of [...points, 'end']) {
    const { recovered: found, end } = await run(crashPoint, before.at)
    expect([before.at, found]).toMatchObject([before.at, { years: 1, paid: 1, open: 0, held: 0 }])
    if (!Number.isNaN(before.usdc)) expect([before.at, before.usdc - Number(found.usdc)]).toEqual([before.at, price])
    expect([crashPoint, end === undefined]).toEqual([crashPoint, crashPoint !== 'end'])
    before = { at: crashPoint, usdc: Number(found.usdc) }
  }
})
