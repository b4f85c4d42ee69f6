import { join } from 'node:path'
import { expect, test } from 'vitest'
import { approvalsOfTest, otherScript, payment, rule, script, withRules } from '#test/support/fixtures/approvals.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'

const createSubmission = (body: string, key = 'k') => ({
  key,
  method: 'POST',
  path: '/local/intents',
  body: Buffer.from(body),
})
const pay = { intent: payment('500'), requester: script }

test('returns the same payment for a repeated idempotency key, even after a restart', async () => {
  const file = join(temporaryFolder('approvals'), 'agent.sqlite')
  const before = approvalsOfTest({ file })
  before.approvals.changePolicy(withRules([rule({ effect: 'allow' })]))
  const answers = await Promise.all([1, 2, 3].map(() => before.askOnce(pay, createSubmission('a'))))
  expect(answers.map(({ replayed }) => replayed)).toEqual([false, true, true])
  const [first] = answers
  expect(first?.record).toMatchObject({ state: 'signed', result: { authorization: { value: '500' } } })
  for (const { record } of answers) expect(record).toEqual(first?.record)
  before.close()

  const after = approvalsOfTest({ file })
  expect(await after.askOnce(pay, createSubmission('a'))).toEqual({ record: first?.record, replayed: true })
  expect(before.signer.signatures() + after.signer.signatures()).toBe(1)
  expect(after.approvals.list({ limit: 9 }).intents).toHaveLength(1)
})

test('a repeated submission returns the current state of the intent', async () => {
  const { approvals, askOnce } = approvalsOfTest()
  const { record } = await askOnce(pay, createSubmission('a'))
  expect(record.state).toBe('waiting')
  const signed = await approvals.decide(record.id, { approve: true, confirmed: false })
  expect(await askOnce(pay, createSubmission('a'))).toEqual({ record: signed, replayed: true })
})

test('an idempotency key is valid for one request of one requester for a day', async () => {
  let nowMs = 1_800_000_000_000
  const { approvals, askOnce, database } = approvalsOfTest({ now: () => nowMs })
  const { record } = await askOnce(pay, createSubmission('a'))
  await expect(askOnce(pay, createSubmission('b'))).rejects.toMatchObject({ code: 'request/reused-key', status: 409 })
  for (const key of ['', 'x'.repeat(129)]) {
    await expect(askOnce(pay, createSubmission('a', key))).rejects.toMatchObject({ code: 'request/invalid' })
  }
  const others = await askOnce({ ...pay, requester: otherScript }, createSubmission('a'))
  expect(others).toMatchObject({ replayed: false, record: { requester: otherScript } })
  expect(others.record.id).not.toBe(record.id)
  database.prepare('DELETE FROM intents WHERE id = ?').run(record.id)
  await expect(askOnce(pay, createSubmission('a'))).rejects.toMatchObject({ code: 'intent/not-found' })
  nowMs += 24 * 60 * 60 * 1000
  expect(await askOnce(pay, createSubmission('b'))).toMatchObject({ replayed: false, record: { state: 'waiting' } })
  expect(approvals.list({ state: 'waiting', limit: 9 }).intents).toHaveLength(1)
  expect(database.prepare('SELECT count(*) AS count FROM asked_once').get()).toEqual({ count: 1 })
})

test('a rejected submission may be repeated with the same key', async () => {
  const { askOnce, database } = approvalsOfTest()
  const bad = { ...pay, intent: payment('500', 'shop.example', 'nowhere') }
  await expect(askOnce(bad, createSubmission('a'))).rejects.toThrow('nowhere')
  expect(database.prepare('SELECT * FROM asked_once').all()).toEqual([])
  expect(await askOnce(pay, createSubmission('b'))).toMatchObject({ replayed: false })
})
