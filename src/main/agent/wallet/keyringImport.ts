import { AppError } from '#shared/appError.ts'
import type { Keyring } from '#shared/contract/wallet.ts'
import { openKeystore } from './keystoreFile.ts'
import { parsePrivateKey } from './privateKeyText.ts'
import { parsePhrase, readLength } from './recoveryPhrase.ts'
import {
  createKeyringId,
  type DerivedAccount,
  deriveFirstAccounts,
  findKeyringWith,
  insertKeyring,
} from './walletAccounts.ts'
import type { WalletActivity } from './walletActivity.ts'
import type { WalletLock } from './walletLock.ts'
import { requireKeyring, type WalletRepository } from './walletRepository.ts'
import { isWhole, type Secret, type WalletSecrets } from './walletSecrets.ts'
import type { WalletStatus } from './walletStatus.ts'
import type { WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: Pick<WalletSecrets, 'open' | 'begin' | 'put'>
  state: Pick<WalletStatus, 'removeRemains' | 'watched'>
  walletLock: Pick<WalletLock, 'runExclusive' | 'captureLockEpoch' | 'activate'>
  activity: Pick<WalletActivity, 'recordCreated' | 'recordImported' | 'publishChanged'>
  now: () => number
}
type NewSecret = {
  secret: Secret
  passphrase: string
  words: number | null
  writtenDown: boolean
  label: string | undefined
  isCurrent: () => boolean
}

/** Creates the operations that add keyrings. The first keyring creates the wallet. */
export function createKeyringImport({
  repository,
  secrets,
  state,
  walletLock,
  activity,
  now,
}: Options): Pick<WalletVault, 'addPhrase' | 'addPrivateKey' | 'addKeystore'> {
  const add = (secret: NewSecret): Promise<string> =>
    walletLock.runExclusive(() => addSecret(secret)).finally(() => secret.secret.bytes.fill(0))

  const addSecret = async ({
    secret,
    passphrase,
    words,
    writtenDown,
    label,
    isCurrent,
  }: NewSecret): Promise<string> => {
    await state.removeRemains()
    const opened = await state.watched(
      async () => (await secrets.open(passphrase)) ?? (await secrets.begin(passphrase)),
    )
    try {
      const accounts = await deriveFirstAccounts(secret)
      const existing = findKeyringWith(accounts, repository)
      if (existing !== undefined && (await isWhole(opened, existing))) throw createDuplicateError(accounts)
      const id = existing ?? createKeyringId()
      await secrets.put(opened, id, secret)
      if (existing === undefined) {
        insertKeyring(repository, { id, secret, words, writtenDown, label, derived: accounts, atMs: now() })
      }
      await walletLock.activate(opened, isCurrent)
      return id
    } finally {
      opened.dataKey.fill(0)
    }
  }

  const toImported = (id: string, from: string): Keyring => {
    const keyring = requireKeyring(repository, id)
    activity.recordImported(keyring, from)
    activity.publishChanged()
    return keyring
  }
  const toCreated = (id: string): Keyring => {
    const keyring = requireKeyring(repository, id)
    activity.recordCreated(keyring)
    activity.publishChanged()
    return keyring
  }

  return {
    async addPhrase({ phrase, isNew, label, writtenDown, passphrase }) {
      const isCurrent = walletLock.captureLockEpoch()
      const secret: Secret = { kind: 'phrase', bytes: toBuffer(await parsePhrase(phrase)) }
      const words = readLength(secret.bytes)
      const id = await add({ secret, passphrase, words, writtenDown, label, isCurrent })
      return isNew ? toCreated(id) : toImported(id, 'a recovery phrase')
    },
    async addPrivateKey({ privateKey, chainType, label, passphrase }) {
      const isCurrent = walletLock.captureLockEpoch()
      const secret: Secret = { kind: chainType, bytes: toBuffer(await parsePrivateKey(privateKey, chainType)) }
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isCurrent })
      return toImported(id, 'a private key')
    },
    async addKeystore({ json, password, label, passphrase }) {
      const isCurrent = walletLock.captureLockEpoch()
      const { key, address } = await openKeystore(json, password)
      const secret: Secret = { kind: 'evm', bytes: toBuffer(key) }
      await requireAddress(secret, address)
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isCurrent })
      return toImported(id, 'a keystore file')
    },
  }
}

/** Returns a buffer that shares the memory. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

async function requireAddress(secret: Secret, address: string | undefined): Promise<void> {
  if (address === undefined) return
  const [account] = await deriveFirstAccounts(secret)
  if (account?.address.toLowerCase() === `0x${address.replace(/^0x/i, '').toLowerCase()}`) return
  secret.bytes.fill(0)
  throw new AppError('wallet/keystore', 'The key in this file does not belong to the address it names.')
}

function createDuplicateError([first]: readonly DerivedAccount[]): AppError {
  return new AppError('wallet/duplicate', `${first?.address ?? 'This account'} is already in your wallet.`)
}
