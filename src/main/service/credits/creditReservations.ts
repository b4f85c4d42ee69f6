import type { AccountId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'

/** Holds for a model gateway: reserve the worst case before a request, settle the actual cost afterwards. */
export interface CreditReservations {
  /**
   * Holds an amount of the account. Resolves after the hold survives the end of this process; a power loss may lose it.
   * @throws AppError `credits/insufficient`, `credits/daily-limit`, `key/model`, `auth/invalid` for a key that was
   * revoked in the meantime, `data/unwritable`. Nothing is held then.
   */
  reserve(request: ReserveRequest): Promise<Reservation>
  /** Amount that can be held now, within the daily limit of the key. Concurrent holds may reduce it. */
  spendable(payer: Payer): Promise<MicroUsd>
}

export type Payer = {
  accountId: AccountId
  /** API key of the request. Undefined for a sign-in, which has no limits. */
  keyId: string | undefined
}

export type ReserveRequest = Payer & {
  /**
   * Maximum cost of the work. A function is called with the amount that is spendable at that moment, again if the
   * transaction has to be repeated. Its result is held before any other request is processed; undefined means that the
   * amount is not sufficient. The function must be synchronous and have no effects.
   */
  worstCaseMicroUsd: MicroUsd | ((spendableMicroUsd: MicroUsd) => MicroUsd | undefined)
  /**
   * Model name as sent by the caller. It is checked against the models that the key may use, and is shown in the
   * history.
   */
  model: string
}

export type Reservation = {
  readonly heldMicroUsd: MicroUsd
  /**
   * Charges the actual cost once: later calls, and calls after `release`, have no effect. Charges at most 110 % of the
   * hold, within the balance and the limit of the key. Resolves after the charge survives the end of this process.
   * Never rejects: a failed write is retried until it succeeds.
   */
  settle(charge: Charge): Promise<Settlement>
  /** Releases the whole hold without a charge. */
  release(): Promise<void>
}

export type Charge = {
  amountMicroUsd: MicroUsd
  /** Whether the amount is an estimate, because the upstream reported no usage or the response was cut off. */
  estimated: boolean
  /** Details for the history, such as tokens and price version. No contents of requests. */
  details?: Readonly<Record<string, string | number | boolean>>
}

export type Settlement = {
  /** Less than the amount if the balance or the limit of the key did not cover the part beyond the hold. */
  chargedMicroUsd: MicroUsd
  /** False while the write to disk fails. */
  written: boolean
}
