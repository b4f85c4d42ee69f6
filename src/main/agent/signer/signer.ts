import type { Intent, IntentRecord, SignedIntent } from '#shared/contract/intents.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'

/** An intent made complete and understood: signing it again later gives the same bytes, but for fresh nonces of payments. */
export type PreparedIntent = {
  /** With everything filled in that was left out. */
  intent: Intent
  account: SigningAccount
  sentence: string
  fields: IntentRecord['fields']
  raw: string
  host: string | null
  /** Micro-dollars, which are USDC's atomic units. */
  amountMicroUsd: bigint | null
}

/** Builds what is signed from its own tables, from intents alone. */
export type Signer = {
  /** @throws AppError `intent/invalid` naming what is refused and why, `wallet/absent`, `wallet/account-not-found` */
  prepare(intent: Intent): Promise<PreparedIntent>
  /** The signature is verified against the address before it is returned. @throws AppError `wallet/locked`, `intent/invalid` */
  sign(prepared: PreparedIntent): Promise<SignedIntent>
}
