import type { EvmNetwork } from '#shared/contract/networks.ts'
import type { PaymentAuthorization, Refusal } from './paymentAuthorization.ts'

/** Settles payments: on a chain with our own key, through a remote facilitator, or in the test ledger. */
export interface Facilitator {
  readonly network: EvmNetwork
  /**
   * Checks whether a payment can be settled now, without moving money. Format, times and signature were checked before.
   * @returns undefined if it can be settled
   * @throws the error that prevents the check
   */
  verify(payment: SignedPayment): Promise<Refusal | undefined>
  /**
   * Moves the money once, however often the authorization is settled. Never throws: an undetermined outcome is
   * `unknown`, and `failed` means that no money was moved and none will be.
   */
  settle(payment: SignedPayment): Promise<Settlement>
  close(): Promise<void>
}

export type SignedPayment = {
  authorization: PaymentAuthorization
  /** Time at which the payment was first received. It cannot have been settled much earlier. */
  createdAtMs: number
  /** Whether an earlier settlement has an unknown outcome. */
  again: boolean
}

export type Settlement =
  | { state: 'settled'; transaction: string }
  | ({ state: 'failed' } & Refusal)
  | { state: 'unknown'; message: string }

export const alreadyUsed: Refusal = {
  reason: 'invalid_exact_evm_nonce_already_used',
  message: 'This authorization was already used or cancelled.',
}
export const tooLittle: Refusal = { reason: 'insufficient_funds', message: 'The payer does not have enough USDC.' }
export const wrongSignature: Refusal = {
  reason: 'invalid_exact_evm_payload_signature',
  message: 'The signature was not created by the payer.',
}
export const expired: Refusal = {
  reason: 'invalid_exact_evm_payload_authorization_valid_before',
  message: 'The payment has expired.',
}
