import type { AccountId } from '#shared/ids.ts'
import type { MicroUsd } from '#shared/microUsd.ts'

/** Holds for a model gateway: reserve the worst case before a request, settle the actual cost afterwards. */
export interface CreditReservations {
  /**
   * Holds an amount of the account. Resolves once the hold survives the end of this process; a power cut may lose it.
   * @throws AppError `credits/insufficient`, `credits/daily-limit`, `key/model`, `auth/invalid` for a key that was
   *   revoked meanwhile, `data/unwritable`. Nothing is held then.
   */
  reserve(request: ReserveRequest): Promise<Reservation>
  /** Amount that could be held now, including the key's daily limit. Concurrent holds may reduce it. */
  spendable(payer: Payer): MicroUsd
}

export type Payer = {
  accountId: AccountId
  /** The API key that asked; undefined for a sign-in, which has no limits of its own. */
  keyId: string | undefined
}

export type ReserveRequest = Payer & {
  /**
   * The most that the work can cost. As a function it is called once, with what can be spent at that very moment:
   * what it returns is held before anybody else's turn; undefined where that covers nothing. It must not wait.
   */
  worstCaseMicroUsd: MicroUsd | ((spendableMicroUsd: MicroUsd) => MicroUsd | undefined)
  /** As the caller named it. It is checked against the models that the key may use, and stands in the history. */
  model: string
}

export type Reservation = {
  readonly heldMicroUsd: MicroUsd
  /**
   * Charges the actual cost, once: later calls, and calls after `release`, have no effect. Charges at most 110 % of the
   * hold, within the balance and the limit of the key. Resolves once the charge survives the end of this
   * process. Never rejects: where the disk refuses it, it is tried again until it is written.
   */
  settle(charge: Charge): Promise<Settlement>
  /** Releases the whole hold; nothing was spent. */
  release(): Promise<void>
}

export type Charge = {
  amountMicroUsd: MicroUsd
  /** The upstream did not say what was used, or the answer was cut. */
  estimated: boolean
  /** For the history: tokens, price version, whatever explains the amount. No contents of requests. */
  details?: Readonly<Record<string, string | number | boolean>>
}

export type Settlement = {
  /** Less than the amount where the balance or the key's limit did not cover what went beyond the hold. */
  chargedMicroUsd: MicroUsd
  /** False while the disk refuses it. */
  written: boolean
}
