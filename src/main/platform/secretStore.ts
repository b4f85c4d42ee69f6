import type { WalletBackend } from '#shared/contract/wallet.ts'

/** Maximum length in printable ASCII: a Windows credential has 2,560 bytes, two per character. */
export const maxSecretCharacters = 1_280

/** Keeps a few short texts by name. What they hold is sealed before it comes here. Every call has a deadline. */
export interface SecretStore {
  readonly kind: WalletBackend['kind']
  /** Location or kind of the store, as one sentence. */
  readonly detail: string
  /**
   * Why it cannot be used, in a few words; undefined when it answers. Asks nothing of the person.
   * It cannot tell a locked keychain.
   */
  fault(): Promise<string | undefined>
  /**
   * Returns undefined if the name has no value.
   * @throws AppError `wallet/keychain-locked`, `wallet/keychain-unavailable`, `wallet/damaged`
   */
  read(name: string): Promise<string | undefined>
  /**
   * Whole or not at all, also when the power fails. Nothing is written over what cannot be read. A change that was
   * given up after its deadline may still be made: whatever comes next of that name waits until that is over.
   */
  write(name: string, value: string): Promise<void>
  /** Does nothing when there is none. */
  remove(name: string): Promise<void>
}

export const backendNames: Record<WalletBackend['kind'], string> = {
  secret_service: 'Secret Service (GNOME Keyring, KWallet)',
  macos_keychain: 'macOS Keychain',
  windows_credential_manager: 'Windows Credential Manager',
  vault_file: 'Encrypted file',
}
