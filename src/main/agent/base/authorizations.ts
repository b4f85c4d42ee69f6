/** Signed payment, with the data to look it up. */
export type Authorization = {
  network: string
  payer: string
  payTo: string
  /** Amount in atomic units, decimal. */
  amount: string
  nonce: string
  validBeforeMs: number
  /** Lower bound of the signing time, in Unix milliseconds. */
  sinceMs: number
  /** Transaction in which the seller reports the settlement of an `upto` payment. */
  transaction?: string | null
  /** Seller whose test ledger contains the payment. Defaults to the connected service. */
  service?: string
}
export type AuthorizationState =
  /** The money moved. */
  | { state: 'used'; transaction: string | null; settledMicroUsd?: number }
  /** `isFinal`: expired or cancelled according to the clock of its chain or ledger, so the money will never move. */
  | { state: 'unused'; isFinal: boolean }
  | { state: 'unknown'; detail: string }

/** Looks up whether a signed payment was used, on its chain or in the test ledger. Never throws. */
export interface AuthorizationLookup {
  findState(authorization: Authorization): Promise<AuthorizationState>
}
