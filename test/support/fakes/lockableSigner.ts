import { randomBytes } from 'node:crypto'
import { verifyMessage } from 'ethers'
import { createIntentSigner } from '#agent/signer/intentSigner.ts'
import type { SignerTools } from '#agent/signer/parsedIntent.ts'
import type { Signer } from '#agent/signer/signer.ts'
import type { WalletKeys } from '#agent/wallet/walletKeys.ts'
import { AppError } from '#shared/appError.ts'
import type { SignedIntent } from '#shared/contract/intents.ts'
import { createEmitter } from '#shared/emitter.ts'
import { createMemoryKeys } from './memoryKeys.ts'

/** Signer with in-memory keys that tests can lock, unlock and delay. */
export type LockableSigner = Signer & {
  wallet: Pick<WalletKeys, 'isUnlocked' | 'accounts'>
  onWalletChange(listener: () => void): () => void
  setUnlocked(unlocked: boolean): void
  /** Simulates the state before the first account, when there is no wallet to unlock. */
  removeWallet(): void
  /** Blocks signing until the returned function is called. */
  hold(): () => void
  /** Number of times that a key was lent. */
  signatures(): number
}

type SignerOptions = { unlocked?: boolean; now?: () => number; solanaBlockHash?: SignerTools['solanaBlockHash'] }

export function createLockableSigner({
  unlocked = true,
  now = Date.now,
  solanaBlockHash,
}: SignerOptions = {}): LockableSigner {
  const keys = createMemoryKeys()
  const changes = createEmitter()
  let open = unlocked
  let isPresent = true
  let pendingLock: Promise<void> = Promise.resolve()
  const withKey: WalletKeys['withKey'] = async (id, use) => {
    await pendingLock
    if (!open) throw new AppError('wallet/locked', 'The wallet is locked.')
    return keys.withKey(id, use)
  }
  return {
    ...createIntentSigner({
      keys: { ...keys, withKey },
      domainName: 'AIWS Automaton',
      now,
      randomBytes,
      ...(solanaBlockHash && { solanaBlockHash }),
    }),
    signatures: () => keys.lent.length,
    wallet: { isUnlocked: () => isPresent && open, accounts: () => (isPresent ? keys.accounts() : []) },
    onWalletChange: changes.subscribe,
    setUnlocked(next) {
      open = next
      changes.emit()
    },
    removeWallet() {
      isPresent = false
    },
    hold() {
      let release = () => {}
      pendingLock = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}

/** Returns whether the result is a valid signature of this text. For Sign-In with Ethereum and messages. */
export function isGenuine(result: SignedIntent | null, text: string): boolean {
  return result !== null && result.message === text && verifyMessage(text, result.signature) === result.address
}
