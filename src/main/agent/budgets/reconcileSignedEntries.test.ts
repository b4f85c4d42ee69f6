import { expect, test } from 'vitest'
import { payment, script } from '#test/support/fixtures/approvals.ts'
import { paymentsOfTest } from '#test/support/fixtures/openPayments.ts'
import type { AuthorizationState } from '../base/authorizations.ts'
import { reconcileSignedEntries } from './reconcileSignedEntries.ts'

test('an authorization signed for a program counts until the chain reports it unused', async () => {
  let nowMs = Date.now()
  const now = () => nowMs
  const { approvals, records } = paymentsOfTest({ now, limits: { day_micro_usd: 1_000 } })
  const signed = await approvals.submit({ intent: payment('900'), requester: script })
  expect(signed.state).toBe('signed')
  const readUsed = () => records.sum({ sinceMs: 0 })
  expect(readUsed()).toEqual({ spent: 0, reserved: 900 })
  const refused = await approvals.submit({ intent: payment('101'), requester: script })
  expect(refused).toMatchObject({ state: 'denied', error: expect.stringContaining('any 24 hours') })

  let outcome: AuthorizationState = { state: 'unknown', detail: 'No answer.' }
  const lookups: object[] = []
  const lookup = {
    async findState(authorization: object) {
      lookups.push(authorization)
      return outcome
    },
  }
  const entries = reconcileSignedEntries({ records, lookup, now })
  await entries.reconcile(() => false) // not expired yet
  expect(lookups).toEqual([])
  nowMs += 2 * 3_600_000
  await entries.reconcile(() => false)
  expect(lookups).toMatchObject([
    { network: 'eip155:8453', amount: '900', nonce: signed.result?.authorization?.nonce, service: 'embedded' },
  ])
  expect(readUsed().reserved).toBe(900)
  nowMs += 2 * 3_600_000
  outcome = { state: 'unused', isFinal: true }
  await entries.reconcile(() => true) // Steward follows this payment itself
  expect(readUsed().reserved).toBe(900)
  await entries.reconcile(() => false)
  expect(readUsed()).toEqual({ spent: 0, reserved: 0 })
})
