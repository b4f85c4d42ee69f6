import type { ChainType, WalletAccountId } from '#shared/contract/wallet.ts'

export type SigningAccount = { id: WalletAccountId; chainType: ChainType; address: string; label: string }

/** Signer's access to the wallet. */
export type WalletKeys = {
  /** @throws AppError `wallet/absent`, `wallet/account-not-found`; without an id it is the default account of the chain */
  account(chainType: ChainType, id?: WalletAccountId): SigningAccount
  /** Every account, so that the signer refuses to pay the person's own. */
  accounts(): SigningAccount[]
  isUnlocked(): boolean
  /**
   * Lends the key while `use` runs, and overwrites it with zeros afterwards: 32 bytes, secp256k1 for EVM, the Ed25519
   * seed for Solana. Counts as use of the wallet.
   * @throws AppError `wallet/locked`, `wallet/account-not-found`, `wallet/damaged`
   */
  lend<T>(id: WalletAccountId, use: (key: Uint8Array) => T | Promise<T>): Promise<T>
}
