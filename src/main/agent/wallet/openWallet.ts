import { AppError } from '../../../shared/appError.ts'
import type { ChainType } from '../../../shared/contract/wallet.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { Note } from '../note.ts'
import { addedSecrets } from './addedSecrets.ts'
import { adoptSecrets } from './adoptedSecrets.ts'
import { newPhrase } from './recoveryPhrase.ts'
import { finishRemovals, removedSecrets } from './removedSecrets.ts'
import { rightAddresses } from './rightAddresses.ts'
import { shownSecrets } from './shownSecrets.ts'
import { fullCost, type HeaderCost } from './vaultHeader.ts'
import { insertAccount, nextAccount } from './walletAccounts.ts'
import { locked, walletDoor } from './walletDoor.ts'
import type { SigningAccount } from './walletKeys.ts'
import type { WalletPlaces } from './walletPlaces.ts'
import { type AccountRow, accountIdOf, knownAccount, knownKeyring, type WalletRepository } from './walletRepository.ts'
import { walletSecrets } from './walletSecrets.ts'
import { walletSettings } from './walletSettings.ts'
import { walletState } from './walletState.ts'
import type { WalletTools } from './walletTools.ts'
import type { WalletVault } from './walletVault.ts'

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

export function openWallet({ repository, places, events, note, now, cost = fullCost }: Options): WalletVault {
  const secrets = walletSecrets({ places, now, cost })
  const settings = walletSettings(repository)
  const state = walletState({ repository, places, secrets, settings })
  const changed = (): void => events.publish({ type: 'wallet.changed' })
  const tell: WalletTools['tell'] = (kind, summary, subject) =>
    note({ kind, actor: person, summary, ...(subject !== undefined && { subject }) })
  const door = walletDoor({ repository, secrets, settings, state, note, changed, now })
  const tools: WalletTools = { repository, secrets, settings, state, door, now, changed, tell }

  return {
    ...addedSecrets(tools),
    ...shownSecrets(tools),
    ...removedSecrets(tools),
    ...labels(tools),
    ...keys(tools),

    async status() {
      const unlocked = door.isOpen()
      const broken = door.broken()
      if (!unlocked) await door.inTurn(state.tidy)
      return state.status({ unlocked: door.isOpen(), broken })
    },
    unlock(passphrase) {
      const isWanted = door.sinceNow()
      return door.withPassphrase(passphrase, async (opened) => {
        await finishRemovals(opened, tools)
        await adoptSecrets(opened, tools)
        if (!(await door.become(opened, isWanted))) throw locked('The wallet was locked while it opened.')
        await rightAddresses(tools)
        tell('wallet.unlocked', 'The wallet was unlocked.')
        changed()
      })
    },
    lock: (why = 'person') => door.lock(why),
    onLocked: door.onLocked,
    canOpen: () =>
      door.inTurn(async () => {
        const store = places.current()
        return store !== undefined && secrets.canOpen(store)
      }),
    checkPassphrase: (passphrase) => door.withPassphrase(passphrase, async () => {}),
    changePassphrase: ({ from, to }) =>
      door.withPassphrase(from, async (opened) => {
        await secrets.rewrap(opened, to)
        tell('wallet.passphrase_changed', 'The passphrase of the wallet was changed.')
      }),
    makePhrase: newPhrase,
    close: door.close,
  }
}

/** What can be changed without a secret, and further accounts. */
function labels({ repository, settings, door, now, changed, tell }: WalletTools) {
  return {
    markWrittenDown(id) {
      if (!repository.markWrittenDown(id)) knownKeyring(repository, id)
      changed()
    },
    addAccount: ({ keyringId, chainType, label }) =>
      door.inTurn(async () => {
        const { kind, label: name } = knownKeyring(repository, keyringId)
        if (kind !== 'phrase') throw new AppError('request/invalid', `“${name}” is one private key with one account.`)
        const secret = door.secret(keyringId)
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
      if (!repository.renameAccount(id, label)) knownAccount(repository, id)
      changed()
    },
    renameKeyring(id, label) {
      if (!repository.renameKeyring(id, label)) knownKeyring(repository, id)
      changed()
    },
    setDefault(id) {
      settings.setDefault(knownAccount(repository, id).chain_type, id)
      changed()
    },
    setAutoLock(minutes) {
      settings.setAutoLockMinutes(minutes)
      door.checkUnused()
      changed()
    },
  } satisfies Partial<WalletVault>
}

const chainNames: Record<ChainType, string> = { evm: 'EVM', solana: 'Solana' }

/** What the signer sees. */
function keys({ repository, settings, state, door }: WalletTools) {
  return {
    account(chainType, id) {
      if (id !== undefined) return signing(knownAccount(repository, id), chainType)
      const row = settings.defaultAccount(chainType)
      if (row) return signing(row, chainType)
      if (repository.accounts().length === 0) throw state.absent()
      throw new AppError('wallet/account-not-found', `This wallet has no ${chainNames[chainType]} account.`)
    },
    accounts: () => repository.accounts().map((row) => signing(row, row.chain_type)),
    isUnlocked: door.isOpen,
    async lend(id, use) {
      const key = await door.key(knownAccount(repository, id))
      try {
        return await use(key)
      } finally {
        key.fill(0)
      }
    },
  } satisfies Partial<WalletVault>
}

function signing(row: AccountRow, chainType: ChainType): SigningAccount {
  if (row.chain_type !== chainType) {
    throw new AppError('wallet/account-not-found', `${row.address} is no ${chainNames[chainType]} account.`)
  }
  return { id: accountIdOf(row), chainType, address: row.address, label: row.label }
}
