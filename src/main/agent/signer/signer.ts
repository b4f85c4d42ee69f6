import type { Intent, IntentRecord, SignedIntent } from '#shared/contract/intents.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'

/** Completed and parsed intent. Signing it again returns the same bytes, except for fresh nonces of payments. */
export type PreparedIntent = {
  /** Intent with all defaults filled in. */
  intent: Intent
  account: SigningAccount
  sentence: string
  fields: IntentRecord['fields']
  raw: string
  host: string | null
  /** Amount in micro-dollars, the atomic units of USDC. */
  amountMicroUsd: bigint | null
}

/** Builds the bytes to sign from intents and its own tables only. */
export type Signer = {
  /** @throws AppError `intent/invalid` with the field and the reason, `wallet/absent`, `wallet/account-not-found` */
  prepare(intent: Intent): Promise<PreparedIntent>
  /**
   * Signs an intent and verifies the signature against the address.
   * @throws AppError `wallet/locked`, `intent/invalid`
   */
  sign(prepared: PreparedIntent): Promise<SignedIntent>
}
