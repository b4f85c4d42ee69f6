import type { ChainType, Keyring, KeyringId, Wallet, WalletAccountId } from '#shared/contract/wallet.ts'
import type { WalletKeys } from './walletKeys.ts'

export type LockReason = 'person' | 'unused' | 'screen'

export type RemovalRequest = {
  typedLabel: string
  passphrase: string
  /** Whether to unlink its wallets at the service that the user linked, too. Default: false. */
  unlinksAll?: boolean
}

/**
 * Runs `remove`, which deletes the accounts of a keyring, in one transaction with everything that ends with them.
 */
export type KeyringRemoval = (
  removed: { keyring: Keyring } & Pick<RemovalRequest, 'unlinksAll'>,
  remove: () => void,
) => void

/**
 * The wallet: sealed secrets in the secret store, and their metadata in the database. One passphrase opens all secrets; the first secret that is added sets it, later ones need it.
 * All reject with AppError `wallet/keychain-locked`, `wallet/keychain-unavailable`, `wallet/damaged` where it applies,
 * and with `wallet/passphrase` for a wrong passphrase, after which nothing is changed.
 */
export type WalletVault = WalletKeys & {
  status(): Promise<Wallet>
  /** @throws AppError `wallet/locked` if it was locked concurrently */
  unlock(passphrase: string): Promise<void>
  /** Ends an unlock that is under way, too. @param why who or what asks for it; the person by default */
  lock(why?: LockReason): void
  /** After each lock, also one of a wallet that was locked already. @returns ends it */
  onLocked(listener: () => void): () => void
  /** Whether a passphrase opens something: not before the first secret is added, nor after the vault was lost. */
  canOpen(): Promise<boolean>
  /** For re-authentication. */
  checkPassphrase(passphrase: string): Promise<void>
  /** Generates a phrase from the system's randomness. It is not stored until it is added. */
  makePhrase(words: 12 | 24): Promise<string>
  /** Adds the first EVM and the first Solana account. @throws AppError `wallet/phrase`, `wallet/duplicate`, `wallet/passphrase-weak` */
  addPhrase(options: {
    phrase: string
    /** Whether it was created here rather than imported, for the log. */
    isNew?: true
    label?: string
    writtenDown: boolean
    passphrase: string
  }): Promise<Keyring>
  /** @param given.privateKey 64 hexadecimal digits, for Solana also base58 of 64 or 32 bytes or a JSON list of bytes */
  addPrivateKey(options: {
    privateKey: string
    chainType: ChainType
    label?: string
    passphrase: string
  }): Promise<Keyring>
  /** Keystore V3. @throws AppError `wallet/keystore` */
  addKeystore(options: { json: string; password: string; label?: string; passphrase: string }): Promise<Keyring>
  revealPhrase(id: KeyringId, passphrase: string): Promise<string>
  markWrittenDown(id: KeyringId): void
  exportKeystore(
    id: WalletAccountId,
    options: { passphrase: string; password: string },
  ): Promise<{ fileName: string; json: string }>
  /** Needs it unlocked: the next index of the phrase. */
  addAccount(options: { keyringId: KeyringId; chainType: ChainType; label?: string }): Promise<void>
  renameAccount(id: WalletAccountId, label: string): void
  renameKeyring(id: KeyringId, label: string): void
  setDefault(id: WalletAccountId): void
  setAutoLock(minutes: number | null): void
  /** @throws AppError `wallet/confirmation` unless `typedLabel` is the label of the keyring */
  remove(id: KeyringId, request: RemovalRequest): Promise<void>
  changePassphrase(options: { from: string; to: string }): Promise<void>
  close(): void
}
