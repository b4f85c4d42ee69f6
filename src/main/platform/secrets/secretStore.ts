import type { WalletBackend } from '#shared/contract/wallet.ts'

/** Maximum length in printable ASCII: a Windows credential has 2,560 bytes, two per character. */
export const maxSecretCharacters = 1_280

/** Store of short encrypted texts by name. Every call has a timeout. */
export interface SecretStore {
  readonly kind: WalletBackend['kind']
  /** Location or kind of the store, as a sentence. */
  readonly detail: string
  /**
   * Returns a short reason if the store is unavailable, otherwise undefined. Does not prompt the user, and cannot
   * detect a locked keychain.
   */
  fault(): Promise<string | undefined>
  /**
   * Returns undefined if the name has no value.
   * @throws AppError `wallet/keychain-locked`, `wallet/keychain-unavailable`, `wallet/damaged`
   */
  read(name: string): Promise<string | undefined>
  /**
   * Writes atomically, including on power failure. Does not overwrite a value that cannot be read. A write that timed
   * out may still happen, so the next call for the same name waits until it has ended.
   */
  write(name: string, value: string): Promise<void>
  /** No-op if the name has no value. */
  remove(name: string): Promise<void>
}

export const backendNames: Record<WalletBackend['kind'], string> = {
  secret_service: 'Secret Service (GNOME Keyring, KWallet)',
  macos_keychain: 'macOS Keychain',
  windows_credential_manager: 'Windows Credential Manager',
  vault_file: 'Encrypted file',
}
