import type { WalletDoor } from './walletDoor.ts'
import type { WalletRepository } from './walletRepository.ts'
import type { WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WatchedState } from './walletState.ts'

/** What the parts of the wallet work with. */
export type WalletTools = {
  repository: WalletRepository
  secrets: WalletSecrets
  settings: WalletSettings
  state: WatchedState
  door: WalletDoor
  now: () => number
  /** Something that can be seen is not as it was. */
  changed: () => void
  /** Into the log, as the person's deed. */
  tell: (kind: string, summary: string, subject?: string) => void
}
