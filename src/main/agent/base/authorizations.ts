/** A signed payment, as it can be found again. */
export type Authorization = {
  network: string
  payer: string
  payTo: string
  /** Atomic units, decimal. */
  amount: string
  nonce: string
  validBeforeMs: number
  /** Time before which it cannot have been signed, in milliseconds since 1970. */
  sinceMs: number
  /** Transaction in which the seller reports the settlement of an `upto` payment. */
  transaction?: string | null
  /** Service that sold, whose test ledger has the payment. Absent: the connected service. */
  service?: string
}
export type AuthorizationState =
  /** The money moved. */
  | { state: 'used'; transaction: string | null; settledMicroUsd?: number }
  /** `isFinal`: it has expired or was cancelled, by the clock of where it is used, so the money never moves. */
  | { state: 'unused'; isFinal: boolean }
  | { state: 'unknown'; detail: string }

/** Looks up whether a signed payment was used, on its chain or in the test ledger. Never throws. */
export interface AuthorizationLookup {
  findState(authorization: Authorization): Promise<AuthorizationState>
}
