import type { IntentRecord, PolicyRule } from '#shared/contract/intents.ts'
import type { JudgedIntent } from './toPolicyInput.ts'

/** What a signature would use up. */
export type ReservedUse = JudgedIntent & {
  /** Of the intent: one reservation at a time. */
  id: string
  /** On whose word it is approved. */
  by: NonNullable<IntentRecord['decision']>['by']
}
export type ReservationRefusal = { effect: Extract<PolicyRule['effect'], 'ask' | 'deny'>; detail: string }

/**
 * Whatever allows only so much: grants count signatures. It is reserved before anything is signed, and ends exactly once:
 * committed or given back. What is neither stays reserved, also over a restart, so that an unclear outcome frees nothing.
 *
 * Every call is synchronous and belongs into the transaction that changes the state of the intent: both happen or
 * neither. A call that cannot be answered throws, and the transaction with it, so that nothing is signed.
 */
export interface Reservations {
  /**
   * Reserves what this use needs, which may be nothing.
   * @returns why it cannot, with nothing reserved; undefined when it is reserved
   * @throws Error when this id has a reservation already
   */
  reserve(use: ReservedUse): ReservationRefusal | undefined
  /** It was used, for good. Of an id without a reservation it does nothing. */
  commit(id: string): void
  /** It was not used and never will be. Of an id without a reservation, as after `commit`, it does nothing. */
  giveBack(id: string): void
}
