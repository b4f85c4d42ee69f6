import type { IntentRecord, PolicyRule } from '#shared/contract/intents.ts'
import type { JudgedIntent } from './toPolicyInput.ts'

/** Use that a signature would consume. */
export type ReservedUse = JudgedIntent & {
  /** Id of the intent, which holds at most one reservation. */
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
  /** Commits a reservation permanently. Without one, does nothing. */
  commit(id: string): void
  /** Releases a reservation that was never used. Without one, as after `commit`, does nothing. */
  giveBack(id: string): void
}
