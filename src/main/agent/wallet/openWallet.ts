import { AppError } from '../../../shared/appError.ts'
import { type ChainType, KeyringId, type Wallet } from '../../../shared/contract/wallet.ts'
import type { Note } from '../activity/note.ts'
import type { LocalEvents } from '../api/localEvents.ts'
import { autoLock } from './autoLock.ts'
import { keystoreName, makeKeystore, openKeystore } from './keystoreFile.ts'
import { requireStrong } from './passphrases.ts'
import { privateKeyOf } from './privateKeyText.ts'
import { entropyOf, newPhrase, phraseOf } from './recoveryPhrase.ts'
import { fullCost, type HeaderCost } from './vaultHeader.ts'
import {
  accountKey,
  type FoundAccount,
  firstAccounts,
  insertAccount,
  insertKeyring,
  keyringHaving,
  newId,
  nextAccount,
} from './walletAccounts.ts'
import type { SigningAccount } from './walletKeys.ts'
import type { WalletPlaces } from './walletPlaces.ts'
import { type AccountRow, accountIdOf, keyringOf, type WalletRepository } from './walletRepository.ts'
import { type Opened, openSecret, type Secret, walletSecrets } from './walletSecrets.ts'
import { walletSettings } from './walletSettings.ts'
import { walletState } from './walletState.ts'
import type { LockReason, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  places: WalletPlaces
  events: Pick<LocalEvents, 'publish'>
  note: Note
  now: () => number
  /** Of each guess at the passphrase; of new wallets and new passphrases. */
  cost?: HeaderCost
}

const person = { kind: 'person', name: 'You' } as const
const lockWords: Record<LockReason, string> = {
  person: 'The wallet was locked.',
  unused: 'The wallet locked itself after a time without use.',
  screen: 'The wallet was locked with the screen.',
}

export function openWallet({ repository, places, events, note, now, cost = fullCost }: Options): WalletVault {
  const secrets = walletSecrets({ places, now, cost })
  const settings = walletSettings(repository)
  const state = walletState({ repository, places, secrets, settings })
  /** Sealed texts of all keyrings while unlocked: signing needs no answer of the keychain. */
  let sealed: ReadonlyMap<string, string | undefined> = new Map()
  let dataKey: Buffer | undefined
  /** How often somebody asked for it to be locked: what was begun before that leaves it locked. */
  let locks = 0
  const lockListeners = new Set<() => void>()
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
  const changed = (): void => events.publish({ type: 'wallet.changed' })
  const tell = (kind: string, summary: string, subject?: string): void =>
    note({ kind, actor: person, summary, ...(subject !== undefined && { subject }) })

  const forget = (): void => {
    idle.stop()
    dataKey?.fill(0)
    dataKey = undefined
    sealed = new Map()
  }
  const shut = (why: LockReason): void => {
    const wasOpen = dataKey !== undefined
    forget()
    for (const listener of lockListeners) listener()
    if (!wasOpen) return
    note({
      kind: 'wallet.locked',
      actor: why === 'person' ? person : { kind: 'system', name: 'Steward' },
      summary: lockWords[why],
    })
    changed()
  }
  const idle = autoLock({ now, minutes: settings.autoLockMinutes, end: () => shut('unused') })

  /** Holds what was opened, in one step; the old is used until then. @returns whether it was not locked meanwhile */
  const become = async (opened: Opened, locksBefore: number): Promise<boolean> => {
    const texts = new Map<string, string | undefined>()
    for (const { id } of repository.keyrings()) texts.set(id, await opened.store.read(id))
    if (locks !== locksBefore) return false
    dataKey?.fill(0)
    dataKey = Buffer.from(opened.dataKey)
    sealed = texts
    idle.used()
    return true
  }

  /** What `use` opens with the passphrase is closed again after it. */
  const withPassphrase = <T>(passphrase: string, use: (opened: Opened) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      const opened = await state.watched(() => secrets.open(passphrase))
      if (!opened) throw state.nothingToOpen()
      try {
        if (dataKey) idle.used()
        return await use(opened)
      } finally {
        opened.dataKey.fill(0)
      }
    })

  const add = (given: NewSecret): Promise<string> =>
    inTurn(() => addSecret(given)).finally(() => given.secret.bytes.fill(0))

  const addSecret = async (given: NewSecret): Promise<string> => {
    const { secret, passphrase, words, writtenDown, label, locksBefore } = given
    await state.tidy()
    const opened = await state.watched(
      async () => (await secrets.open(passphrase)) ?? (await secrets.begin(passphrase)),
    )
    try {
      const found = await firstAccounts(secret)
      const known = keyringHaving(found, repository)
      if (known !== undefined && (await isWhole(opened, known))) throw duplicate(found)
      const id = known ?? newId('keys')
      await secrets.put(opened, id, secret)
      if (known === undefined) {
        insertKeyring(repository, { id, secret, words, writtenDown, label, found, atMs: now() })
      }
      await become(opened, locksBefore)
      return id
    } finally {
      opened.dataKey.fill(0)
    }
  }

  const keyring = (id: string) => {
    const row = repository.keyrings().find((it) => it.id === id)
    if (!row) throw new AppError('wallet/keyring-not-found', `There is no phrase or key ${id}.`)
    return keyringOf(row, repository.accounts())
  }
  const accountRow = (id: string): AccountRow => {
    const row = repository.account(id)
    if (!row) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
    return row
  }

  const readSecret = async ({ store, dataKey: key }: Opened, id: string): Promise<Secret> => {
    const text = await store.read(id)
    const secret = text === undefined ? undefined : openSecret(key, id, text)
    if (secret) return secret
    throw damaged(keyring(id).label)
  }

  const heldSecret = (id: string): Secret => {
    idle.check()
    if (!dataKey) throw repository.keyrings().length === 0 ? state.absent() : locked('The wallet is locked.')
    const text = sealed.get(id)
    const secret = text === undefined ? undefined : openSecret(dataKey, id, text)
    if (!secret) throw damaged(keyring(id).label)
    idle.used()
    return secret
  }

  return {
    async status(): Promise<Wallet> {
      idle.check()
      const broken = dataKey ? brokenKeyrings(dataKey, sealed) : []
      if (!dataKey) await inTurn(state.tidy)
      return state.status({ unlocked: dataKey !== undefined, broken })
    },
    unlock(passphrase) {
      const locksBefore = locks
      return withPassphrase(passphrase, async (opened) => {
        await finishRemovals(opened)
        await adoptOthers(opened)
        if (!(await become(opened, locksBefore))) throw locked('The wallet was locked while it opened.')
        tell('wallet.unlocked', 'The wallet was unlocked.')
        changed()
      })
    },
    lock(why = 'person') {
      locks += 1
      shut(why)
    },
    onLocked(listener) {
      lockListeners.add(listener)
      return () => void lockListeners.delete(listener)
    },
    canOpen: () =>
      inTurn(async () => {
        const store = places.current()
        return store !== undefined && secrets.canOpen(store)
      }),
    checkPassphrase: (passphrase) => withPassphrase(passphrase, async () => {}),
    makePhrase: newPhrase,

    async addPhrase({ phrase, label, writtenDown, passphrase }) {
      const locksBefore = locks
      const secret: Secret = { kind: 'phrase', bytes: Buffer.from(await entropyOf(phrase)) }
      const words = wordsOf(secret)
      const id = await add({ secret, passphrase, words, writtenDown, label, locksBefore })
      return added(id, 'a phrase')
    },
    async addPrivateKey({ privateKey, chainType, label, passphrase }) {
      const locksBefore = locks
      const secret: Secret = { kind: chainType, bytes: Buffer.from(await privateKeyOf(privateKey, chainType)) }
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, locksBefore })
      return added(id, 'a private key')
    },
    async addKeystore({ json, password, label, passphrase }) {
      const locksBefore = locks
      const { key, address } = await openKeystore(json, password)
      const secret: Secret = { kind: 'evm', bytes: Buffer.from(key) }
      key.fill(0)
      await requireAddress(secret, address)
      const id = await add({ secret, passphrase, words: null, writtenDown: true, label, locksBefore })
      return added(id, 'a keystore file')
    },

    revealPhrase: (id, passphrase) =>
      withPassphrase(passphrase, async (opened) => {
        const { label, kind } = keyring(id)
        if (kind !== 'phrase') throw new AppError('request/invalid', `“${label}” is a private key and has no phrase.`)
        const secret = await readSecret(opened, id)
        try {
          const phrase = await phraseOf(secret.bytes)
          tell('wallet.revealed', `The phrase “${label}” was shown.`, id)
          return phrase
        } finally {
          secret.bytes.fill(0)
        }
      }),
    markWrittenDown(id) {
      if (!repository.markWrittenDown(id)) keyring(id)
      changed()
    },
    exportKeystore: (id, { passphrase, password }) =>
      withPassphrase(passphrase, async (opened) => {
        const { chain_type: chainType, address, keyring_id: keyringId, path, label } = accountRow(id)
        if (chainType !== 'evm') {
          throw new AppError('request/invalid', `“${label}” is an account of Solana: Keystore V3 is for EVM accounts.`)
        }
        requireStrong(password, 'password')
        const secret = await readSecret(opened, keyringId)
        const key = await accountKey(secret, chainType, path)
        try {
          const json = await makeKeystore(key, { password, address })
          tell('wallet.exported', `${address} was exported as a keystore file.`, id)
          return { fileName: keystoreName(address, now()), json }
        } finally {
          key.fill(0)
          secret.bytes.fill(0)
        }
      }),

    addAccount: ({ keyringId, chainType, label }) =>
      inTurn(async () => {
        const { kind, label: name } = keyring(keyringId)
        if (kind !== 'phrase') throw new AppError('request/invalid', `“${name}” is one private key with one account.`)
        const secret = heldSecret(keyringId)
        try {
          const found = await nextAccount(secret, chainType, { keyringId, accounts: repository.accounts() })
          insertAccount(repository, { keyringId, found, label, atMs: now() })
          tell('wallet.account_added', `${found.address} was added to “${name}”.`, keyringId)
        } finally {
          secret.bytes.fill(0)
        }
        changed()
      }),
    renameAccount(id, label) {
      if (!repository.renameAccount(id, label)) accountRow(id)
      changed()
    },
    renameKeyring(id, label) {
      if (!repository.renameKeyring(id, label)) keyring(id)
      changed()
    },
    setDefault(id) {
      settings.setDefault(accountRow(id).chain_type, id)
      changed()
    },
    setAutoLock(minutes) {
      settings.setAutoLockMinutes(minutes)
      idle.check()
      changed()
    },
    remove: (id, { typedLabel, passphrase }) =>
      withPassphrase(passphrase, async (opened) => {
        const { label } = keyring(id)
        if (typedLabel.trim() !== label) {
          throw new AppError('wallet/confirmation', `This is not the label “${label}”.`)
        }
        settings.removeKeyring(id)
        tell('wallet.removed', `“${label}” was removed from the wallet.`, id)
        await finishRemovals(opened)
        sealed = new Map([...sealed].filter(([name]) => name !== id))
        if (repository.keyrings().length === 0) {
          shut('person')
          await secrets.end(opened.store)
        }
        changed()
      }),
    changePassphrase: ({ from, to }) =>
      withPassphrase(from, async (opened) => {
        await secrets.rewrap(opened, to)
        tell('wallet.passphrase_changed', 'The passphrase of the wallet was changed.')
      }),

    account(chainType, id) {
      if (id !== undefined) return signing(accountRow(id), chainType)
      const row = settings.defaultAccount(chainType)
      if (row) return signing(row, chainType)
      if (repository.accounts().length === 0) throw state.absent()
      throw new AppError('wallet/account-not-found', `This wallet has no ${chainNames[chainType]} account.`)
    },
    accounts: () => repository.accounts().map((row) => signing(row, row.chain_type)),
    isUnlocked() {
      idle.check()
      return dataKey !== undefined
    },
    async lend(id, use) {
      const { keyring_id: keyringId, chain_type: chainType, path } = accountRow(id)
      const secret = heldSecret(keyringId)
      let key: Uint8Array | undefined
      try {
        key = await accountKey(secret, chainType, path)
        secret.bytes.fill(0)
        return await use(key)
      } finally {
        secret.bytes.fill(0)
        key?.fill(0)
      }
    },
    close() {
      locks += 1
      forget()
    },
  }

  function added(id: string, what: string) {
    const one = keyring(id)
    const kind = what === 'a phrase' && !one.written_down ? 'wallet.created' : 'wallet.imported'
    tell(kind, `“${one.label}” was added from ${what}.`, id)
    changed()
    return one
  }

  /** A removal that was cut off goes on. */
  async function finishRemovals(opened: Opened): Promise<void> {
    for (const id of settings.removing()) {
      await secrets.drop(opened, id)
      settings.removed(id)
    }
  }

  /** A crash between secret and row, or a lost database: what is sealed here belongs to this wallet. */
  async function adoptOthers(opened: Opened): Promise<void> {
    const rows = repository.keyrings().map((it) => it.id)
    const kept = new Set(rows)
    for (const id of opened.header.names.filter((it) => !kept.has(it))) {
      const text = await opened.store.read(id)
      if (text === undefined) continue
      kept.add(id)
      const secret = openSecret(opened.dataKey, id, text)
      if (!secret) continue
      try {
        const found = await firstAccounts(secret)
        insertKeyring(repository, { ...adopted(id, secret), found, atMs: now() })
        tell('wallet.imported', 'A secret that was in the wallet without its accounts was taken in again.', id)
      } finally {
        secret.bytes.fill(0)
      }
    }
    if (kept.size !== opened.header.names.length || rows.some((id) => !opened.header.names.includes(id))) {
      await secrets.list(opened, [...kept])
    }
  }

  async function isWhole({ store, dataKey: key }: Opened, id: string): Promise<boolean> {
    const text = await store.read(id)
    const secret = text === undefined ? undefined : openSecret(key, id, text)
    secret?.bytes.fill(0)
    return secret !== undefined
  }
}

type NewSecret = {
  secret: Secret
  passphrase: string
  words: number | null
  writtenDown: boolean
  label: string | undefined
  locksBefore: number
}

const chainNames: Record<ChainType, string> = { evm: 'EVM', solana: 'Solana' }

function adopted(id: string, secret: Secret) {
  const words = secret.kind === 'phrase' ? wordsOf(secret) : null
  return { id: KeyringId.parse(id), secret, words, writtenDown: secret.kind !== 'phrase', label: undefined }
}

/** Three words for each four bytes. */
function wordsOf({ bytes }: Secret): number {
  return (bytes.length / 4) * 3
}

function signing(row: AccountRow, chainType: ChainType): SigningAccount {
  if (row.chain_type !== chainType) {
    throw new AppError('wallet/account-not-found', `${row.address} is no ${chainNames[chainType]} account.`)
  }
  return { id: accountIdOf(row), chainType, address: row.address, label: row.label }
}

function brokenKeyrings(dataKey: Buffer, sealed: ReadonlyMap<string, string | undefined>): string[] {
  return [...sealed].flatMap(([id, text]) => {
    const secret = text === undefined ? undefined : openSecret(dataKey, id, text)
    secret?.bytes.fill(0)
    return secret ? [] : [id]
  })
}

async function requireAddress(secret: Secret, address: string | undefined): Promise<void> {
  if (address === undefined) return
  const [found] = await firstAccounts(secret)
  if (found?.address.toLowerCase() === `0x${address.replace(/^0x/i, '').toLowerCase()}`) return
  secret.bytes.fill(0)
  throw new AppError('wallet/keystore', 'This keystore holds the key of another address than the one it names.')
}

function duplicate([first]: readonly FoundAccount[]): AppError {
  return new AppError('wallet/duplicate', `${first?.address ?? 'It'} is in this wallet already.`)
}

function locked(message: string): AppError {
  return new AppError('wallet/locked', message)
}

function damaged(label: string): AppError {
  return new AppError('wallet/damaged', `The secret of “${label}” is missing or was changed.`)
}
