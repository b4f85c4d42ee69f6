import { AppError } from '#shared/appError.ts'
import type { ServiceEvent } from '#shared/contract/events.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { WalletName, WalletRecord } from '../auth/walletRepository.ts'
import type { AutomatonNonces } from './automatonNonces.ts'
import { type AutomatonRecord, automatonRepository } from './automatonRepository.ts'
import { type AutomatonRegistrationRequest, checkProof } from './registrationProof.ts'

export type Automatons = {
  /**
   * Registers an automaton, unless `admitNew` throws. Returns the earlier record if all fields are unchanged.
   * @throws AppError `request/invalid`, `identity/hash`, `identity/signature`, `identity/nonce-bound`,
   * `identity/immutable`, `identity/nonce-used`, in this order
   */
  register(registration: AutomatonRegistrationRequest, admitNew: () => void): Promise<AutomatonRecord>
  /** @throws AppError `identity/not-found` */
  get(id: string): Promise<AutomatonRecord>
  /** Lists the account's own automatons, then those that name it as creator. Newest first in both groups. */
  ofAccount(accountId: AccountId): Promise<AutomatonRecord[]>
  /** @throws AppError `auth/wallet-needed` */
  bindNonce(
    caller: { accountId: AccountId; wallet: WalletName | undefined },
    automatonId: string | undefined,
  ): Promise<{ nonce: string; expiresAtMs: number; creatorAddress: string }>
}

/** Any client may name any creator, so automatons that only name one have a separate limit. */
const maxListed = 1000
const maxNaming = 100

export function createAutomatons(options: {
  store: Store
  nonces: AutomatonNonces
  wallets: {
    find(wallet: WalletName): Promise<WalletRecord | undefined>
    list(accountId: AccountId): Promise<WalletRecord[]>
  }
  /** Name of the EIP-712 domain for signed registrations. */
  domainName: string
  publish: (accountId: AccountId, event: ServiceEvent) => void
  recordForAccount: ActivityLog['recordForAccount']
  now: () => number
}): Automatons {
  const { store, nonces, wallets, domainName, publish, recordForAccount, now } = options

  /** Notifies the creator only if its nonce was used. Otherwise any client could flood its activity log. */
  const announce = async (record: AutomatonRecord, isBound: boolean): Promise<void> => {
    const addresses = isBound ? [record.creatorAddress, record.automatonAddress] : [record.automatonAddress]
    const owners = new Set<AccountId>()
    for (const address of addresses) {
      const wallet = await wallets.find({ type: getChainType(address), address })
      if (wallet) owners.add(wallet.accountId)
    }
    for (const accountId of owners) {
      recordForAccount(accountId, {
        type: 'identity.registered',
        description: `The automaton ${record.sentId} of ${record.automatonAddress} was registered.`,
      })
      publish(accountId, { type: 'automatons.changed' })
    }
  }

  return {
    async register(registration, admitNew) {
      const record = toRecord(registration, now())
      await checkProof(registration, domainName)
      const { id, creatorKey } = record
      const admitOnce = memoize(admitNew) // PostgreSQL may repeat the transaction
      const { isCreated, stored, isBound } = await store.write(async (tx) => {
        const isBound = await nonces.checkBinding(tx, registration.nonce, { creatorKey, automatonId: id })
        const before = await automatonRepository.find(tx, id)
        if (before) {
          checkUnchanged(before, record)
          return { isCreated: false, stored: before, isBound }
        }
        await nonces.spend(tx, registration.nonce)
        admitOnce()
        await automatonRepository.add(tx, record)
        return { isCreated: true, stored: record, isBound }
      })
      if (isCreated) await announce(stored, isBound)
      return stored
    },
    async get(id) {
      const record = await automatonRepository.find(store.read, toCanonicalId(id))
      if (record) return record
      throw new AppError('identity/not-found', `No automaton ${id} is registered.`)
    },
    async ofAccount(accountId) {
      const keys = (await wallets.list(accountId)).map(({ address }) => toAddressKey(address))
      const own = await automatonRepository.listOfWallets(store.read, keys, maxListed)
      return [...own, ...(await automatonRepository.listNaming(store.read, keys, maxNaming))]
    },
    async bindNonce({ accountId, wallet: signedInWallet }, automatonId) {
      const wallet = signedInWallet ?? (await wallets.list(accountId))[0]
      if (!wallet)
        throw new AppError('auth/wallet-needed', 'A nonce belongs to a wallet, and this account has no wallet.')
      const bound = await nonces.bind({
        creatorKey: toAddressKey(wallet.address),
        automatonId: automatonId && toCanonicalId(automatonId),
      })
      return { ...bound, creatorAddress: wallet.address }
    },
  }
}

function toRecord(registration: AutomatonRegistrationRequest, createdAtMs: number): AutomatonRecord {
  const {
    automaton_address: automatonAddress,
    creator_address: creatorAddress,
    chain_type: chainType = 'evm',
  } = registration
  if (getChainType(automatonAddress) !== chainType) {
    const form = chainType === 'evm' ? '0x and 40 hexadecimal digits' : 'a Solana address'
    throw new AppError('request/invalid', `\`automaton_address\` must be ${form} if \`chain_type\` is ${chainType}.`)
  }
  return {
    id: toCanonicalId(registration.automaton_id),
    sentId: registration.automaton_id,
    automatonAddress,
    creatorAddress,
    automatonKey: toAddressKey(automatonAddress),
    creatorKey: toAddressKey(creatorAddress),
    name: registration.name,
    bio: registration.bio,
    genesisPromptHash: registration.genesis_prompt_hash ?? null,
    chainType,
    payloadHash: registration.payload_hash,
    nonce: registration.nonce,
    signature: registration.signature,
    createdAtMs,
  }
}

/** Returns a function that calls `work` until it has returned once. */
function memoize(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    work()
    isDone = true
  }
}

/** Checks fields in this order. The error contains the first field that differs. */
function checkUnchanged(before: AutomatonRecord, after: AutomatonRecord): void {
  const hashKey = ({ genesisPromptHash }: AutomatonRecord) => genesisPromptHash?.toLowerCase()
  const changed: [field: string, isChanged: boolean][] = [
    ['automaton_address', before.automatonKey !== after.automatonKey],
    ['creator_address', before.creatorKey !== after.creatorKey],
    ['name', before.name !== after.name],
    ['bio', before.bio !== after.bio],
    ['genesis_prompt_hash', hashKey(before) !== hashKey(after)],
  ]
  const [first] = changed.find(([, isChanged]) => isChanged) ?? []
  if (first !== undefined) {
    throw new AppError('identity/immutable', `Profile ${first} is immutable after registration`)
  }
}

function toCanonicalId(id: string): string {
  return id.replaceAll('-', '').toLowerCase()
}

function getChainType(address: string): 'evm' | 'solana' {
  return address.startsWith('0x') ? 'evm' : 'solana'
}

function toAddressKey(address: string): string {
  return getChainType(address) === 'evm' ? address.toLowerCase() : address
}
