import { AppError } from '#shared/appError.ts'
import type { Keyring } from '#shared/contract/wallet.ts'
import { openKeystore } from './keystoreFile.ts'
import { privateKeyOf } from './privateKeyText.ts'
import { entropyOf, wordsOf } from './recoveryPhrase.ts'
import { createKeyringId, type FoundAccount, firstAccounts, insertKeyring, keyringHaving } from './walletAccounts.ts'
import type { WalletDoor } from './walletDoor.ts'
import type { WalletNotes } from './walletNotes.ts'
import { knownKeyring, type WalletRepository } from './walletRepository.ts'
import { isWhole, type Secret, type WalletSecrets } from './walletSecrets.ts'
import type { WatchedState } from './walletState.ts'
import type { WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: Pick<WalletSecrets, 'open' | 'begin' | 'put'>
  state: Pick<WatchedState, 'tidy' | 'watched'>
  door: Pick<WalletDoor, 'inTurn' | 'sinceNow' | 'become'>
  notes: Pick<WalletNotes, 'created' | 'imported' | 'changed'>
  now: () => number
}
type NewSecret = {
  secret: Secret
  passphrase: string
  words: number | null
  writtenDown: boolean
  label: string | undefined
  isWanted: () => boolean
}

/** What a person gives the wallet. With the first of it a wallet begins. */
export function addedSecrets({
  repository,
  secrets,
  state,
  door,
  notes,
  now,
}: Options): Pick<WalletVault, 'addPhrase' | 'addPrivateKey' | 'addKeystore'> {
  const add = (given: NewSecret): Promise<string> =>
    door.inTurn(() => addSecret(given)).finally(() => given.secret.bytes.fill(0))

  const addSecret = async ({ secret, passphrase, words, writtenDown, label, isWanted }: NewSecret): Promise<string> => {
    await state.tidy()
    const opened = await state.watched(
      async () => (await secrets.open(passphrase)) ?? (await secrets.begin(passphrase)),
    )
    try {
      const found = await firstAccounts(secret)
      const known = keyringHaving(found, repository)
      if (known !== undefined && (await isWhole(opened, known))) throw duplicate(found)
      const id = known ?? createKeyringId()
      await secrets.put(opened, id, secret)
      if (known === undefined) {
        insertKeyring(repository, { id, secret, words, writtenDown, label, found, atMs: now() })
      }
      await door.become(opened, isWanted)
      return id
    } finally {
      opened.dataKey.fill(0)
    }
  }

  const imported = (id: string, from: string): Keyring => {
    const keyring = knownKeyring(repository, id)
    notes.imported(keyring, from)
    notes.changed()
    return keyring
  }
  const created = (id: string): Keyring => {
    const keyring = knownKeyring(repository, id)
    notes.created(keyring)
    notes.changed()
    return keyring
  }

  return {
    async addPhrase({ phrase, isNew, label, writtenDown, passphrase }) {
      const isWanted = door.sinceNow()
      const secret: Secret = { kind: 'phrase', bytes: taken(await entropyOf(phrase)) }
      const words = wordsOf(secret.bytes)
      const id = await add({ secret, passphrase, words, writtenDown, label, isWanted })
      return isNew ? created(id) : imported(id, 'a recovery phrase')
    },
    async addPrivateKey({ privateKey, chainType, label, passphrase }) {
      const isWanted = door.sinceNow()
      const secret: Secret = { kind: chainType, bytes: taken(await privateKeyOf(privateKey, chainType)) }
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isWanted })
      return imported(id, 'a private key')
    },
    async addKeystore({ json, password, label, passphrase }) {
      const isWanted = door.sinceNow()
      const { key, address } = await openKeystore(json, password)
      const secret: Secret = { kind: 'evm', bytes: taken(key) }
      await requireAddress(secret, address)
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isWanted })
      return imported(id, 'a keystore file')
    },
  }
}

/** The same memory, not a copy of it. */
function taken({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

async function requireAddress(secret: Secret, address: string | undefined): Promise<void> {
  if (address === undefined) return
  const [found] = await firstAccounts(secret)
  if (found?.address.toLowerCase() === `0x${address.replace(/^0x/i, '').toLowerCase()}`) return
  secret.bytes.fill(0)
  throw new AppError('wallet/keystore', 'The key in this file does not belong to the address it names.')
}

function duplicate([first]: readonly FoundAccount[]): AppError {
  return new AppError('wallet/duplicate', `${first?.address ?? 'This account'} is already in your wallet.`)
}
