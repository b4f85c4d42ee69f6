import { AppError } from '#shared/appError.ts'
import {
  changePaymentBudgets,
  forgetPayee,
  getPaymentBudgets,
  type PaymentBudgets as PaymentBudgetsAnswer,
} from '#shared/contract/paymentBudgets.ts'
import { toIsoTime } from '#shared/time.ts'
import type { PolicyConfirmation } from '../approvals/policyConfirmation.ts'
import { person } from '../base/actors.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { closedLimits, describeBudgetChange, listLooserLimits } from './budgetChange.ts'
import type { PaymentBudgetRepository } from './paymentBudgetRepository.ts'
import type { PaymentBudgets } from './paymentBudgets.ts'

type Options = {
  records: PaymentBudgetRepository
  budgets: PaymentBudgets
  policy: Pick<PolicyConfirmation, 'confirmAndApply'>
  publish: LocalEvents['publish']
  recordActivity: RecordActivity
}

/**
 * Creates the endpoints for budgets. Lower limits apply immediately; looser ones are confirmed outside the window's
 * content.
 */
export function createBudgetRoutes({ records, budgets, policy, publish, recordActivity }: Options): LocalEndpoint[] {
  const present = () => records.limits() ?? closedLimits
  const answer = (): PaymentBudgetsAnswer => ({
    limits: budgets.limits(),
    states: budgets.states(),
    payees: records.payees().map(({ host, network, payTo, sinceMs }) => ({
      ...{ host, network, pay_to: payTo },
      since: toIsoTime(sinceMs),
    })),
  })
  const recordChange = (summary: string): void => {
    recordActivity({ kind: 'payment.budgets', actor: person, summary })
    publish({ type: 'payment-budgets.changed' })
  }
  /** @param before limits shown in the confirmation; a concurrent change invalidates it */
  const assertConfirmed = (before: string) => {
    if (JSON.stringify(present()) !== before)
      throw new AppError('policy/confirmation', 'The limits changed in the meantime.')
  }
  const forgotten = (host: string) => {
    if (records.forget(host)) recordChange(`You reset the payee of ${host}.`)
    return { success: true as const, host }
  }

  return [
    createLocalEndpoint(getPaymentBudgets, answer),
    createLocalEndpoint(changePaymentBudgets, async ({ body }, { signal }) => {
      const from = present()
      const lines = listLooserLimits(from, body)
      const before = JSON.stringify(from)
      const apply = () => {
        assertConfirmed(before)
        records.setLimits(body)
        recordChange('You changed the limits of payments.')
        return answer()
      }
      return lines.length === 0 ? apply() : policy.confirmAndApply({ ...describeBudgetChange(lines), apply }, signal)
    }),
    createLocalEndpoint(forgetPayee, async ({ params: { host } }, { signal }) => {
      if (present().ask_first_payee) return forgotten(host)
      const lines = [{ label: host, value: 'may be paid at a new payee address without asking you' }]
      return policy.confirmAndApply({ ...describeBudgetChange(lines), apply: () => forgotten(host) }, signal)
    }),
  ]
}
