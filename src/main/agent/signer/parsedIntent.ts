import { AppError } from '#shared/appError.ts'
import type { Intent, IntentKind, IntentRecord, SignedIntent } from '#shared/contract/intents.ts'
import type { SolanaNetwork } from '#shared/contract/networks.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { SignEvm } from './evmSignature.ts'
import type { PreparedIntent } from './signer.ts'

export type IntentOf<K extends IntentKind> = Extract<Intent, { kind: K }>

/** Parsed intent with the function that signs it. */
export type ParsedIntent = { prepared: PreparedIntent; sign(): Promise<SignedIntent> }

export type IntentField = IntentRecord['fields'][number]

export type SignerTools = {
  keys: Pick<WalletKeys, 'account' | 'accounts' | 'withKey'>
  /** Name in the EIP-712 domain of registrations: `identity.domain_name`. */
  domainName: string
  /** Returns the origin of the service with the test ledger, or undefined if there is no such service. */
  testLedgerOrigin?: () => string | undefined
  /** Returns a recent block hash for a transaction on this network. @throws AppError `chain/unavailable` */
  solanaBlockHash?: (network: SolanaNetwork) => Promise<string>
  now: () => number
  /** Returns cryptographically secure random bytes. */
  randomBytes: (length: number) => Uint8Array
}

export type IntentTools = SignerTools & { signEvm: SignEvm }

export function createInvalidIntentError(message: string, cause?: unknown): AppError {
  return new AppError('intent/invalid', message, { cause })
}
