import { AppError } from '#shared/appError.ts'
import {
  changePaymentBudgets,
  forgetPayee,
  getPaymentBudgets,
  type PaymentBudgets as PaymentBudgetsAnswer,
} from '#shared/contract/paymentBudgets.ts'
import { isoTime } from '#shared/time.ts'
import type { ConfirmedPolicy } from '../approvals/confirmedPolicy.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { Note } from '../base/note.ts'
import { budgetWords, closedLimits, looserLimits } from './budgetChange.ts'
import type { PaymentBudgetRepository } from './paymentBudgetRepository.ts'
import type { PaymentBudgets } from './paymentBudgets.ts'

type Options = {
  records: PaymentBudgetRepository
  budgets: PaymentBudgets
  policy: Pick<ConfirmedPolicy, 'confirmed'>
  publish: LocalEvents['publish']
  note: Note
}
const you = { kind: 'person', name: 'You' } as const

/** Lower limits hold at once; what lets more be paid is confirmed where the window cannot draw. */
export function budgetRoutes({ records, budgets, policy, publish, note }: Options): LocalEndpoint[] {
  const present = () => records.limits() ?? closedLimits
  const answer = (): PaymentBudgetsAnswer => ({
    limits: budgets.limits(),
    states: budgets.states(),
    payees: records.payees().map(({ host, network, payTo, sinceMs }) => ({
      ...{ host, network, pay_to: payTo },
      since: isoTime(sinceMs),
    })),
  })
  const changed = (summary: string): void => {
    note({ kind: 'payment.budgets', actor: you, summary })
    publish({ type: 'payment-budgets.changed' })
  }
  /** @param before it was shown as a change of this: another one in between ends it */
  const confirmedOnly = (before: string) => {
    if (JSON.stringify(present()) !== before)
      throw new AppError('policy/confirmation', 'The limits changed in the meantime.')
  }
  const forgotten = (host: string) => {
    if (records.forget(host)) changed(`You forgot whom ${host} was paid to.`)
    return { success: true as const, host }
  }

  return [
    localEndpoint(getPaymentBudgets, answer),
    localEndpoint(changePaymentBudgets, async ({ body }, { signal }) => {
      const from = present()
      const lines = looserLimits(from, body)
      const before = JSON.stringify(from)
      const apply = () => {
        confirmedOnly(before)
        records.setLimits(body)
        changed('You changed the limits of payments.')
        return answer()
      }
      return lines.length === 0 ? apply() : policy.confirmed({ ...budgetWords(lines), apply }, signal)
    }),
    localEndpoint(forgetPayee, async ({ params: { host } }, { signal }) => {
      if (present().ask_first_payee) return forgotten(host)
      const lines = [{ label: host, value: 'may be paid to another payee without asking you' }]
      return policy.confirmed({ ...budgetWords(lines), apply: () => forgotten(host) }, signal)
    }),
  ]
}
