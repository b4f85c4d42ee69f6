import { randomBytes } from 'node:crypto'
import { AppError } from '../../shared/appError.ts'
import type { PaymentId } from '../../shared/contract/localPayments.ts'
import { httpClient } from '../platform/httpClient.ts'
import type { AgentGround } from './agentGround.ts'
import type { ApprovalParts } from './approvalParts.ts'
import type { BudgetParts } from './budgetParts.ts'
import { budgetRoutes } from './budgets/budgetRoutes.ts'
import { signedEntries } from './budgets/signedEntries.ts'
import { askedUrl, connector, type ServiceTarget, tlsOptions } from './connections/serviceTarget.ts'
import type { LocalEndpoint } from './localEndpoint.ts'
import { chainLookup, lookupByNetwork, testLedgerLookup } from './payments/authorizationLookup.ts'
import { paymentFollower } from './payments/paymentFollower.ts'
import { paymentJournal, paymentSummary } from './payments/paymentJournal.ts'
import { paymentNotes } from './payments/paymentNotes.ts'
import { paymentRepository } from './payments/paymentRepository.ts'
import { paymentRoutes } from './payments/paymentRoutes.ts'
import { type PaymentSending, paymentSending } from './payments/paymentSending.ts'
import { payments as paymentsOf } from './payments/payments.ts'
import { purchases as purchasesOf } from './payments/purchases.ts'
import { publicSeller } from './payments/seller.ts'
import { serviceSeller } from './payments/serviceSeller.ts'

type Given = {
  approval: Pick<ApprovalParts, 'approvals' | 'asks' | 'repeats' | 'policy'>
  budget: BudgetParts
  serviceTarget: () => ServiceTarget | undefined
}

const maxAnswerBytes = 2 * 1024 * 1024

/** Paying others, and the limits of it. */
export function paymentParts(
  ground: AgentGround,
  { approval, budget, serviceTarget }: Given,
): { endpoints: LocalEndpoint[] } {
  const { database, client, hosted, link, events, activity, tasks, scope, now } = ground
  const log = ground.log.of('payments')
  const { publish } = events
  const service = hosted?.url ?? 'embedded'
  const rows = paymentRepository(database)
  const journal = paymentJournal({ payments: rows, budgets: budget.records, now })
  const notes = paymentNotes(activity.note)
  scope.own(
    journal.subscribe(({ payment: { record }, from }) => {
      notes.became(record, from)
      publish({ type: 'payment.changed', payment: paymentSummary(record) })
      if (record.state !== from) publish({ type: 'payment-budgets.changed' })
    }),
    (leave) => leave(),
  )

  const strangers = scope.own(publicSeller(), (it) => it.close())
  const own = serviceSeller(() => {
    const target = link.target()
    return (
      target && {
        client: httpClient({ maxAnswerBytes, connect: connector(target), tls: tlsOptions(target) }),
        baseUrl: askedUrl(target),
        authorization: `Bearer ${target.key}`,
        task: tasks.current()?.id,
      }
    )
  })
  const lookup = lookupByNetwork({ chain: chainLookup(ground.chains, now), testLedger: testLedgerLookup(client) })
  const sending = paymentSending({
    payments: rows,
    journal,
    sellerOf: ({ via, service: of }) =>
      via === 'public' ? strangers : of === service && link.target() ? own : undefined,
    lookup,
    now,
  })
  /** Whenever it is sent, and sent again, it is part of what it was asked for in. */
  const inTask: PaymentSending = {
    step(id, signal) {
      const intent = rows.find(id)?.record.intent_id
      const task = intent ? activity.taskOf({ kind: 'intent', id: intent }) : undefined
      return task ? tasks.resume(task, () => sending.step(id, signal)) : sending.step(id, signal)
    },
  }
  const entries = signedEntries({
    records: budget.records,
    isFollowed: (intentId) => rows.ofIntent(intentId) !== undefined,
    lookup,
    now,
  })
  const follower = scope.own(
    paymentFollower({ payments: rows, sending: inTask, alongside: entries.lookAfter, log, now }),
    (it) => it.close(),
  )
  const payments = scope.own(
    paymentsOf({
      payments: rows,
      journal,
      approvals: approval.approvals,
      ask: approval.asks.ask,
      repeats: approval.repeats,
      budgets: budget.budgets,
      payees: budget.records,
      follower,
      service,
      isOwnService: (url) => hosted === undefined && originOf(serviceTarget()?.url) === originOf(url),
      newId: () => `pay_${randomBytes(12).toString('hex')}` as PaymentId, // as the brand demands
      now,
    }),
    (it) => it.close(),
  )
  scope.own(
    events.subscribe((event) => {
      if (event.type === 'intent.changed') payments.onIntent(event.intent)
    }),
    (leave) => leave(),
  )
  scope.own(
    link.subscribe(({ type }) => {
      if (type === 'ready') follower.start()
    }),
    (leave) => leave(),
  )
  payments.start()
  follower.start()

  const serviceUrl = (): string => {
    const target = serviceTarget()
    if (target) return target.url
    throw new AppError('service/unavailable', "The service isn't responding.")
  }
  return {
    endpoints: [
      ...budgetRoutes({ ...budget, policy: approval.policy, publish, note: activity.note }),
      ...paymentRoutes({
        payments,
        rows,
        follower,
        purchases: purchasesOf({ client, seller: own, serviceUrl }),
        seller: strangers,
      }),
    ],
  }
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin
}
