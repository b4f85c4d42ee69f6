import { AppError } from '#shared/appError.ts'
import type { Intent, IntentKind, IntentRecord, SignedIntent } from '#shared/contract/intents.ts'
import type { SolanaNetwork } from '#shared/contract/networks.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { SignEvm } from './evmSignature.ts'
import type { PreparedIntent } from './signer.ts'

export type IntentOf<K extends IntentKind> = Extract<Intent, { kind: K }>

/** An intent with the one thing that may be signed for it. */
export type Understood = { prepared: PreparedIntent; sign(): Promise<SignedIntent> }

export type IntentField = IntentRecord['fields'][number]

export type SignerTools = {
  keys: Pick<WalletKeys, 'account' | 'accounts' | 'lend'>
  /** Name in the EIP-712 domain of registrations: `identity.domain_name`. */
  domainName: string
  /** Origin of the service with the ledger of test money; undefined if there is none. */
  testLedgerOrigin?: () => string | undefined
  /** A block hash that a transaction on this network may name now. @throws AppError `chain/unavailable` */
  solanaBlockHash?: (network: SolanaNetwork) => Promise<string>
  now: () => number
  /** Cryptographically strong. */
  randomBytes: (length: number) => Uint8Array
}

/** Dependencies of parsing and signing intents of any kind. */
export type IntentTools = SignerTools & { signEvm: SignEvm }

export function createInvalidIntentError(message: string, cause?: unknown): AppError {
  return new AppError('intent/invalid', message, { cause })
}
