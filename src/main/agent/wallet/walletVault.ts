import type { ChainType, Keyring, KeyringId, Wallet, WalletAccountId } from '#shared/contract/wallet.ts'
import type { WalletKeys } from './walletKeys.ts'

export type LockReason = 'person' | 'unused' | 'screen'

export type RemovalRequest = {
  typedLabel: string
  passphrase: string
  /** Whether to also unlink wallets that the user linked at the service. Defaults to false. */
  unlinksAll?: boolean
}

/** Runs `remove`, which deletes the accounts of a keyring, in one transaction with everything that depends on them. */
export type KeyringRemoval = (
  removed: { keyring: Keyring } & Pick<RemovalRequest, 'unlinksAll'>,
  remove: () => void,
) => void

/**
 * The wallet: encrypted secrets in the secret store, and their metadata in the database. One passphrase unlocks all
 * secrets. Adding the first secret sets it, and adding others requires it. All methods reject with AppError
 * `wallet/keychain-locked`, `wallet/keychain-unavailable` or `wallet/damaged` where applicable, and with
 * `wallet/passphrase` for a wrong passphrase, without any change.
 */
export type WalletVault = WalletKeys & {
  status(): Promise<Wallet>
  /** @throws AppError `wallet/locked` if it was locked concurrently */
  unlock(passphrase: string): Promise<void>
  /** Locks the wallet and cancels a running unlock. @param why reason or origin of the request; defaults to the user */
  lock(why?: LockReason): void
  /** Subscribes to locks, including locks of a wallet that was already locked. @returns a function to unsubscribe */
  onLocked(listener: () => void): () => void
  /** Whether a passphrase can unlock anything. False before the first secret is added, and after the vault was lost. */
  canOpen(): Promise<boolean>
  /** Verifies the passphrase for re-authentication. */
  checkPassphrase(passphrase: string): Promise<void>
  /** Generates a phrase from system randomness. It is not stored until `addPhrase`. */
  makePhrase(words: 12 | 24): Promise<string>
  /** Adds the first EVM and the first Solana account. @throws AppError `wallet/phrase`, `wallet/duplicate`, `wallet/passphrase-weak` */
  addPhrase(options: {
    phrase: string
    /** Whether the phrase was created here instead of imported, for the log. */
    isNew?: true
    label?: string
    writtenDown: boolean
    passphrase: string
  }): Promise<Keyring>
  /**
   * @param options.privateKey 64 hexadecimal digits; for Solana also base58 of 64 or 32 bytes, or a JSON array of bytes
   */
  addPrivateKey(options: {
    privateKey: string
    chainType: ChainType
    label?: string
    passphrase: string
  }): Promise<Keyring>
  /** Adds the key of a Keystore V3 file. @throws AppError `wallet/keystore` */
  addKeystore(options: { json: string; password: string; label?: string; passphrase: string }): Promise<Keyring>
  revealPhrase(id: KeyringId, passphrase: string): Promise<string>
  markWrittenDown(id: KeyringId): void
  exportKeystore(
    id: WalletAccountId,
    options: { passphrase: string; password: string },
  ): Promise<{ fileName: string; json: string }>
  /** Adds the account at the next index of the phrase. Requires an unlocked wallet. */
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
