import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { rule } from '../support/approvals.ts'
import { noLimits, type PayingAgent, payingAgent } from '../support/payingAgent.ts'
import { projectFolder } from '../support/plantedTree.ts'
import type { Json } from '../support/runningService.ts'

/** The agent is killed at every step of a payment: it is paid once or not at all, and the next run says which. */
const price = 5_000_000
let paying: PayingAgent

beforeAll(async () => {
  paying = await payingAgent()
  paying.setPolicy([rule({ effect: 'allow' })])
  paymentBudgetRepository(paying.agent.database).setLimits({ ...noLimits, ask_first_payee: false })
  await paying.agent.close()
})
afterAll(() => paying?.close())

/** One run: what it found of the run before, and what it printed if it was not killed. */
async function run(at: string): Promise<{ found: Json; end: string | undefined }> {
  const { dataFolder, service } = paying
  const given = [join(projectFolder, 'test/support/crashingPayment.ts'), dataFolder, service.url, service.key, at]
  const [found, end] = await new Promise<string[]>((resolve) => {
    execFile(process.execPath, given, (_, stdout, stderr) => resolve([...stdout.trim().split('\n'), stderr]))
  })
  if (found === undefined || !found.startsWith('{')) throw new Error(`The run ${at} told nothing: ${end}`)
  return { found: JSON.parse(found), end: end === '' ? undefined : end }
}

test('wherever it is killed, the next run ends it, and money, record and limits agree', async () => {
  await run('never') // the first payment to the payee writes once more
  const writes = Number((await run('never-again')).end)
  expect(writes).toBeGreaterThan(8)
  // The first ones are of one transaction.
  const steps = Array.from({ length: writes }, (_, index) => index + 1).filter((step) => step === 1 || step > 5)
  const points = [...steps.map(String), 'sent', 'flushed']
  const outcomes: string[] = []
  let before: { at: string; found: Json } | undefined
  for (const at of [...points, 'the end']) {
    const { found, end } = await run(at)
    if (before) {
      const kept = found.reason === `crash ${before.at}`
      const paid = kept && found.paid === true
      const state = kept ? found.state : 'none'
      expect([before.at, state]).toEqual([before.at, expect.stringMatching(/^(settled|refused|reconciled|none)$/)])
      const moved = Number(before.found.usdc) - Number(found.usdc)
      expect([before.at, moved, found.credits - before.found.credits]).toEqual([
        before.at,
        ...(paid ? [price, 500] : [0, 0]),
      ])
      const spent = 500_000_000 - Number(found.usdc)
      expect([before.at, found.held]).toMatchObject([before.at, { used_micro_usd: spent, held_micro_usd: 0 }])
      outcomes.push(state)
    }
    expect([at, end]).toEqual([at, at === 'the end' ? String(writes) : undefined])
    before = { at, found }
  }
  expect(new Set(outcomes)).toEqual(new Set(['none', 'refused', 'settled']))
})
