/**
 * State of a payment at the seller. The payer's local agent tracks its own payments by `PaymentState`.
 *
 * - `verifying`: received. No money was moved, so a restart deletes it.
 * - `settling`: handed to the facilitator, which may have moved the money.
 * - `unknown`: the facilitator did not return an outcome. It is retried until the outcome is known.
 * - `settled`: the money was moved. `PaymentWork` tracks the delivery.
 * - `failed`: no money was moved, and none will be. The same authorization may be submitted again.
 */
export type SettlementState = 'verifying' | 'settling' | 'settled' | 'failed' | 'unknown'

/**
 * Delivery of a settled payment; `none` in all other states.
 *
 * - `waiting`: the paying request ended before the settlement, and its client may retry.
 * - `begun`: a request delivers the purchase, or a process that ended did.
 * - `done`: the response is stored.
 * - `credited`: the delivery failed, and the payer received credits.
 */
export type PaymentWork = 'none' | 'waiting' | 'begun' | 'done' | 'credited'

/** Allowed transitions. `verifying` and `failed` payments may also be removed. States without transitions are final. */
const settlementTransitions: Readonly<Record<SettlementState, readonly SettlementState[]>> = {
  verifying: ['settling'],
  settling: ['settled', 'failed', 'unknown'],
  unknown: ['settled', 'failed', 'unknown'],
  settled: [],
  failed: [],
}

const workTransitions: Readonly<Record<PaymentWork, readonly PaymentWork[]>> = {
  none: ['waiting', 'begun'],
  waiting: ['begun', 'done', 'credited'],
  begun: ['done', 'credited'],
  done: [],
  credited: [],
}

/** Lists the states from which the work may change to `to`. */
export function listWorkBefore(to: PaymentWork): PaymentWork[] {
  const states = Object.entries(workTransitions) as [PaymentWork, readonly PaymentWork[]][]
  return states.flatMap(([from, next]) => (next.includes(to) ? [from] : []))
}

/** States in which the money was moved or may have been moved, so that price changes no longer affect the payment. */
export const possiblySettledStates: readonly SettlementState[] = ['settling', 'unknown', 'settled']

/** States in which no money was moved and none will be without another request, so that the payment may be removed. */
export const removableStates: readonly SettlementState[] = ['verifying', 'failed']

type Progress = { state: SettlementState; work: PaymentWork }

/** @throws Error if the transition table does not allow the change */
export function assertTransition(id: string, from: Progress | undefined, to: Partial<Progress>): void {
  if (!from) throw new Error(`There is no payment ${id}.`)
  const { state = from.state, work = from.work } = to
  const changesState = to.state !== undefined
  const isAllowed = changesState ? settlementTransitions[from.state].includes(state) : from.state === 'settled'
  if (isAllowed && (to.work === undefined || workTransitions[from.work].includes(work))) return
  throw new Error(`The payment ${id} cannot change from ${from.state}, ${from.work} to ${state}, ${work}.`)
}
