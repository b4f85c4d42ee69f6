import type { ChainType, WalletAccountId } from '#shared/contract/wallet.ts'

export type SigningAccount = { id: WalletAccountId; chainType: ChainType; address: string; label: string }

/** Access of the signer to the wallet. */
export type WalletKeys = {
  /**
   * Returns an account, by default the default account of the chain.
   * @throws AppError `wallet/absent`, `wallet/account-not-found`
   */
  account(chainType: ChainType, id?: WalletAccountId): SigningAccount
  /** Returns all accounts, so that the signer can refuse payments to the user's own addresses. */
  accounts(): SigningAccount[]
  isUnlocked(): boolean
  /**
   * Lends the 32-byte key (secp256k1 for EVM, Ed25519 seed for Solana) while `use` runs, then overwrites it with zeros.
   * Counts as use of the wallet.
   * @throws AppError `wallet/locked`, `wallet/account-not-found`, `wallet/damaged`
   */
  withKey<T>(id: WalletAccountId, use: (key: Uint8Array) => T | Promise<T>): Promise<T>
}
