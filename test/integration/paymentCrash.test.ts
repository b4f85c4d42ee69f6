import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { rule } from '../support/fixtures/approvals.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createPayingAgent, noLimits, type PayingAgent } from '../support/processes/payingAgent.ts'
import type { Json } from '../support/processes/runningService.ts'

/**
 * The agent is killed at every step of a payment. The payment is made once or not at all, and the next run reports
 * which.
 */
const price = 5_000_000
let paying: PayingAgent

beforeAll(async () => {
  paying = await createPayingAgent()
  paying.setPolicy([rule({ effect: 'allow' })])
  createPaymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
  await paying.agent.close()
})
afterAll(() => paying?.close())

/**
 * Runs the agent once. Returns the state that it recovered from the previous run, and its output if it was not killed.
 */
async function run(crashPoint: string): Promise<{ recovered: Json; end: string | undefined }> {
  const { dataFolder, service } = paying
  const programArguments = [
    join(projectFolder, 'test/support/processes/crashingPayment.ts'),
    dataFolder,
    service.url,
    service.key,
    crashPoint,
  ]
  const [output, end] = await new Promise<string[]>((resolve) => {
    execFile(process.execPath, programArguments, (_, stdout, stderr) => resolve([...stdout.trim().split('\n'), stderr]))
  })
  if (output === undefined || !output.startsWith('{')) throw new Error(`The run ${crashPoint} told nothing: ${end}`)
  return { recovered: JSON.parse(output), end: end === '' ? undefined : end }
}

test('the next run completes a killed payment with consistent money, record and limits', async () => {
  await run('never') // the first payment to a payee has one more write
  const writes = Number((await run('never-again')).end)
  expect(writes).toBeGreaterThan(8)
  // The first writes belong to one transaction.
  const steps = Array.from({ length: writes }, (_, index) => index + 1).filter((step) => step === 1 || step > 5)
  const points = [...steps.map(String), 'sent', 'flushed']
  const outcomes: string[] = []
  let before: { at: string; found: Json } | undefined
  for (const crashPoint of [...points, 'the end']) {
    const { recovered: outcome, end } = await run(crashPoint)
    if (before) {
      const isReserved = outcome.reason === `crash ${before.at}`
      const paid = isReserved && outcome.paid === true
      const state = isReserved ? outcome.state : 'none'
      expect([before.at, state]).toEqual([before.at, expect.stringMatching(/^(settled|refused|reconciled|none)$/)])
      const moved = Number(before.found.usdc) - Number(outcome.usdc)
      expect([before.at, moved, outcome.credits - before.found.credits]).toEqual([
        before.at,
        ...(paid ? [price, 500] : [0, 0]),
      ])
      const spentAtomic = 500_000_000 - Number(outcome.usdc)
      expect([before.at, outcome.held]).toMatchObject([before.at, { used_micro_usd: spentAtomic, held_micro_usd: 0 }])
      outcomes.push(state)
    }
    expect([crashPoint, end]).toEqual([crashPoint, crashPoint === 'the end' ? String(writes) : undefined])
    before = { at: crashPoint, found: outcome }
  }
  expect(new Set(outcomes)).toEqual(new Set(['none', 'refused', 'settled']))
})
