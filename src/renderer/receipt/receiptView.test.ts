import { expect, test } from 'vitest'
import { createResultView, createStatusView } from './receiptView.ts'

const payment = {
  id: `pay_${'a'.repeat(24)}`,
  state: 'settled',
  sentence: 'Paid 0.25 USDC.',
  amount_usd: 0.25,
  paid_micro_usd: 250_000,
  network: 'eip155:8453',
  test: false,
  transaction: `0x${'b'.repeat(64)}`,
}

test('shows a call that awaits approval and follows it', () => {
  const message =
    "Waiting for the user's approval in Steward: Delete the sandbox atlas. Call approval_status with id call_1."
  const view = createResultView({
    structuredContent: { waiting: { id: 'call_1', for: 'person', message, expires_at: null } },
  })
  expect(view).toMatchObject({
    state: 'waiting',
    heading: 'Waiting for approval',
    sentence: 'Delete the sandbox atlas.',
    follow: 'call_1',
  })
})

test('shows a running call as in progress', () => {
  const waiting = { id: 'call_1', for: 'program', message: 'sandbox_delete runs.', expires_at: null }
  expect(createResultView({ structuredContent: { waiting } })).toMatchObject({
    state: 'working',
    heading: 'In progress',
  })
})

test('shows the paid amount and links only to https URLs', () => {
  expect(createResultView({ structuredContent: { payment } })).toMatchObject({
    state: 'done',
    heading: 'Paid',
    amount: '0.25 USDC',
  })
  const whole = (more: object) =>
    createStatusView({ id: payment.id, state: 'settled', payment: { ...payment, ...more } })
  const findLink = (url: string) =>
    whole({ transaction_url: url }).rows.find(({ name }) => name === 'Transaction')?.link
  expect(findLink('https://basescan.org/tx/0x')).toBe('https://basescan.org/tx/0x')
  expect(findLink('javascript:alert(1)')).toBeUndefined()
  expect(whole({ scheme: 'upto', amount_usd: 1 }).rows).toContainEqual({
    name: 'Limit signed',
    value: '1.00 USDC',
  })
  expect(whole({ test: true, paid_micro_usd: 1 }).amount).toBe('0.000001 test USDC')
})

test.each([
  ['settled', null, 'Paid', 'done'],
  ['refused', false, 'Not paid', 'failed'],
  ['unknown', null, 'Outcome unknown', 'unclear'],
  ['reconciled', true, 'Paid', 'done'],
  ['reconciled', false, 'Not paid', 'failed'],
  ['sent', null, 'In progress', 'working'],
])('labels a %s payment (paid: %s) as “%s”', (state, paid, heading, text) => {
  expect(createResultView({ structuredContent: { payment: { ...payment, state, paid } } })).toMatchObject({
    heading,
    state: text,
  })
})

test.each([
  [{ state: 'denied', error: 'You refused it.' }, 'failed', 'You refused it.'],
  [{ state: 'failed', error: 'It broke.' }, 'failed', 'It broke.'],
  [
    { state: 'unclear', error: 'Steward closed while the call was running.' },
    'unclear',
    'Steward closed while the call was running.',
  ],
  [{ state: 'running', sentence: 'It runs.' }, 'working', 'It runs.'],
  [{ state: 'done', result: { payment } }, 'done', 'Paid 0.25 USDC.'],
  [{ state: 'signed', sentence: 'Register researcher.' }, 'done', 'Register researcher.'],
  [
    { state: 'expired', sentence: 'Register researcher.' },
    'failed',
    'The request expired without a decision. Nothing was done.',
  ],
  [{ state: 'approved', sentence: 'Register researcher.' }, 'working', 'Register researcher.'],
])('shows the status of a call or request: %j', (status, state, sentence) => {
  expect(createStatusView({ id: 'call_1', ...status })).toMatchObject({ state, sentence })
})

test.each([
  {},
  { isError: true },
  { structuredContent: [] },
  { content: 'x', isError: true },
  { structuredContent: null },
])('shows a heading for the malformed result %j', (input) => {
  expect(createResultView(input).heading).not.toBe('')
  expect(createStatusView(input).heading).not.toBe('')
})
