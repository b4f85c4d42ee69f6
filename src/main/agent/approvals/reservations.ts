import type { IntentRecord, PolicyRule } from '#shared/contract/intents.ts'
import type { PolicyInput } from './toPolicyInput.ts'

/** Use that a signature would consume. */
export type ReservedUse = PolicyInput & {
  /** Id of the intent, which has at most one reservation. */
  id: string
  /** Decider that approved the intent. */
  by: NonNullable<IntentRecord['decision']>['by']
}
export type ReservationRefusal = { effect: Extract<PolicyRule['effect'], 'ask' | 'deny'>; detail: string }

/**
 * Reserves limited resources: grants, for example, limit the number of signatures. A use is reserved before anything is
 * signed, and ends exactly once: committed or released. An open reservation survives a restart, so that an unknown
 * outcome frees nothing. Every call is synchronous and belongs in the transaction that changes the intent's state, so
 * that both happen or neither. If a call throws, the transaction fails and nothing is signed.
 */
export interface Reservations {
  /**
   * Reserves the resources for this use, if any are needed.
   * @returns the refusal, with nothing reserved, or undefined if reserved
   * @throws Error if this id already has a reservation
   */
  reserve(use: ReservedUse): ReservationRefusal | undefined
  /** Commits a reservation permanently. No-op if there is no reservation. */
  commit(id: string): void
  /** Releases an unused reservation. No-op if there is no reservation, for example after `commit`. */
  giveBack(id: string): void
}
