import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { HDNodeWallet } from 'ethers'
import nacl from 'tweetnacl'
import type { SigningAccount, WalletKeys } from '#agent/wallet/walletKeys.ts'
import { AppError } from '#shared/appError.ts'
import { WalletAccountId } from '#shared/contract/wallet.ts'

const phrase = 'test test test test test test test test test test test junk'

type MemoryKey = SigningAccount & { key: Uint8Array }

export type MemoryKeys = WalletKeys & {
  evm: SigningAccount
  solana: SigningAccount
  /** Second account of each chain. */
  otherEvm: SigningAccount
  otherSolana: SigningAccount
  /** Lent keys, recorded after their return. */
  lent: Uint8Array[]
  lock(): void
  /** Swaps the keys of two accounts, as in a damaged vault. */
  mixUp(): void
}

/**
 * Creates a wallet without a vault. The keys are real, and derived from fixed text by libraries that the product does
 * not use.
 */
export function createMemoryKeys(): MemoryKeys {
  const evm = evmAccount(0)
  const otherEvm = evmAccount(1)
  const solana = solanaAccount(0)
  const otherSolana = solanaAccount(1)
  const keys: readonly MemoryKey[] = [evm, otherEvm, solana, otherSolana]
  const lentKeys: Uint8Array[] = []
  let locked = false
  let mixed = false
  return {
    evm: toAccount(evm),
    otherEvm: toAccount(otherEvm),
    solana: toAccount(solana),
    otherSolana: toAccount(otherSolana),
    lent: lentKeys,
    account(chainType, id) {
      const key = keys.find(
        (memoryKey) => memoryKey.chainType === chainType && (id === undefined || memoryKey.id === id),
      )
      if (!key) throw new AppError('wallet/account-not-found', `There is no ${chainType} account ${id}.`)
      return toAccount(key)
    },
    accounts: () => keys.map(toAccount),
    isUnlocked: () => !locked,
    async withKey(id, use) {
      if (locked) throw new AppError('wallet/locked', 'The wallet is locked.')
      const account = keys.find((it) => it.id === id)
      if (!account) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
      const owner = mixed
        ? keys.find((memoryKey) => memoryKey.chainType === account.chainType && memoryKey.id !== id)
        : account
      const key = Uint8Array.from(owner?.key ?? [])
      lentKeys.push(key)
      try {
        return await use(key)
      } finally {
        key.fill(0)
      }
    },
    lock: () => {
      locked = true
    },
    mixUp: () => {
      mixed = true
    },
  }
}

function toAccount({ id, chainType, address, label }: MemoryKey): SigningAccount {
  return { id, chainType, address, label }
}

function evmAccount(index: number): MemoryKey {
  const wallet = HDNodeWallet.fromPhrase(phrase, undefined, `m/44'/60'/0'/0/${index}`)
  const key = Uint8Array.from(Buffer.from(wallet.privateKey.slice(2), 'hex'))
  return { id: createId(`evm ${index}`), chainType: 'evm', address: wallet.address, label: `Account ${index + 1}`, key }
}

function solanaAccount(index: number): MemoryKey {
  const key = Uint8Array.from(createHash('sha256').update(`solana ${index}`).digest())
  const address = base58.encode(nacl.sign.keyPair.fromSeed(key).publicKey)
  return { id: createId(`solana ${index}`), chainType: 'solana', address, label: `Solana ${index + 1}`, key }
}

function createId(text: string) {
  return WalletAccountId.parse(`wal_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`)
}
