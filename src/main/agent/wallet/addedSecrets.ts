import { AppError } from '../../../shared/appError.ts'
import type { Keyring } from '../../../shared/contract/wallet.ts'
import { openKeystore } from './keystoreFile.ts'
import { privateKeyOf } from './privateKeyText.ts'
import { entropyOf, wordsOf } from './recoveryPhrase.ts'
import { type FoundAccount, firstAccounts, insertKeyring, keyringHaving, newId } from './walletAccounts.ts'
import { knownKeyring } from './walletRepository.ts'
import { isWhole, type Secret } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'
import type { WalletVault } from './walletVault.ts'

type NewSecret = {
  secret: Secret
  passphrase: string
  words: number | null
  writtenDown: boolean
  label: string | undefined
  isWanted: () => boolean
}

/** What a person gives the wallet. With the first of it a wallet begins. */
export function addedSecrets(tools: WalletTools): Pick<WalletVault, 'addPhrase' | 'addPrivateKey' | 'addKeystore'> {
  const { repository, secrets, state, door, now, changed, tell } = tools

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
      if (known !== undefined && (await isWhole(opened, known))) throw duplicate()
      const id = known ?? newId('keys')
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

  const added = (id: string, what: string): Keyring => {
    const one = knownKeyring(repository, id)
    if (what === 'a new phrase') tell('wallet.created', `“${one.label}” was made, a new phrase.`, id)
    else tell('wallet.imported', `“${one.label}” was added from ${what}.`, id)
    changed()
    return one
  }

  return {
    async addPhrase({ phrase, isNew, label, writtenDown, passphrase }) {
      const isWanted = door.sinceNow()
      const secret: Secret = { kind: 'phrase', bytes: taken(await entropyOf(phrase)) }
      const words = wordsOf(secret.bytes)
      const id = await add({ secret, passphrase, words, writtenDown, label, isWanted })
      return added(id, isNew ? 'a new phrase' : 'a phrase')
    },
    async addPrivateKey({ privateKey, chainType, label, passphrase }) {
      const isWanted = door.sinceNow()
      const secret: Secret = { kind: chainType, bytes: taken(await privateKeyOf(privateKey, chainType)) }
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isWanted })
      return added(id, 'a private key')
    },
    async addKeystore({ json, password, label, passphrase }) {
      const isWanted = door.sinceNow()
      const { key, address } = await openKeystore(json, password)
      const secret: Secret = { kind: 'evm', bytes: taken(key) }
      await requireAddress(secret, address)
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, isWanted })
      return added(id, 'a keystore file')
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
  throw new AppError('wallet/keystore', 'This keystore holds the key of another address than the one it names.')
}

function duplicate(): AppError {
  return new AppError('wallet/duplicate', 'This account is already in your wallet.')
}
