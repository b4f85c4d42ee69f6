import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paymentBudgetRepository } from '../../src/main/agent/budgets/paymentBudgetRepository.ts'
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
})
afterAll(() => paying?.close())

/** @returns what it printed; nothing when it was killed */
async function crash(at: string): Promise<string> {
  const { dataFolder, service } = paying
  const given = [join(projectFolder, 'test/support/crashingPayment.ts'), dataFolder, service.url, service.key, at]
  return new Promise((resolve) => {
    execFile(process.execPath, given, (_, stdout) => resolve(stdout.trim()))
  })
}

const reasonOf = (at: string) => ({ reason: `crash ${at}` })

test('wherever it is killed, the next run ends it, and money, record and limits agree', async () => {
  await paying.agent.close()
  await crash('never') // the first payment to the payee writes once more
  const writes = Number(await crash('never-again'))
  expect(writes).toBeGreaterThan(8)
  const points = [...Array.from({ length: writes }, (_, index) => String(index + 1)), 'sent', 'flushed']
  const outcomes: string[] = []
  for (const at of points) {
    const before = { money: await paying.money(), credits: await paying.credits() }
    expect([at, await crash(at)]).toEqual([at, ''])
    await paying.restart()
    const { payments } = (await paying.agent.send('/local/payments?limit=1')).json
    const [found] = payments.filter((it: Json) => it.reason === reasonOf(at).reason)
    const ended = found && (await paying.payment(found.id, 30_000))
    expect([at, ended?.state ?? 'none']).toEqual([at, expect.stringMatching(/^(settled|refused|reconciled|none)$/)])
    const moved = before.money - (await paying.money())
    expect([at, moved]).toEqual([at, ended?.paid ? price : 0])
    expect([at, (await paying.credits()) - before.credits]).toEqual([at, ended?.paid ? 500 : 0])
    // Whoever lost the answer asks again with the same key: it finds the same payment, or pays for the first time.
    const again = await paying.post(
      '/local/payments/topup',
      { amount_usd: 5, ...reasonOf(at), wait_ms: 20_000 },
      { 'idempotency-key': `crash ${at}` },
    )
    if (again.status === 200 && ended) expect(again.json.payment.id).toBe(ended.id)
    expect(before.money - (await paying.money())).toBeLessThanOrEqual(price)
    outcomes.push(`${at}: ${ended?.state ?? 'none'}`)
    await paying.agent.close()
  }
  await paying.restart()
  const { states } = (await paying.budgets()).json
  const spent = 500_000_000 - (await paying.money())
  expect(states.find(({ scope }: Json) => scope === 'day')).toMatchObject({ used_micro_usd: spent, held_micro_usd: 0 })
  expect(outcomes.join()).toContain('settled')
  expect(outcomes.join()).toContain('none')
})
