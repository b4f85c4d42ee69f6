import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { HDNodeWallet } from 'ethers'
import nacl from 'tweetnacl'
import type { SigningAccount, WalletKeys } from '#agent/wallet/walletKeys.ts'
import { AppError } from '#shared/appError.ts'
import { WalletAccountId } from '#shared/contract/wallet.ts'

const phrase = 'test test test test test test test test test test test junk'

type Held = SigningAccount & { key: Uint8Array }

export type MemoryKeys = WalletKeys & {
  evm: SigningAccount
  solana: SigningAccount
  /** A second one of each chain. */
  otherEvm: SigningAccount
  otherSolana: SigningAccount
  /** What was lent, after it was given back. */
  lent: Uint8Array[]
  lock(): void
  /** Gives the key of one account for another, as a damaged vault would. */
  mixUp(): void
}

/** A wallet without a vault: real keys, made anew from fixed text by other libraries than the product's. */
export function memoryKeys(): MemoryKeys {
  const evm = evmAccount(0)
  const otherEvm = evmAccount(1)
  const solana = solanaAccount(0)
  const otherSolana = solanaAccount(1)
  const held: readonly Held[] = [evm, otherEvm, solana, otherSolana]
  const lent: Uint8Array[] = []
  let locked = false
  let mixed = false
  return {
    evm: shown(evm),
    otherEvm: shown(otherEvm),
    solana: shown(solana),
    otherSolana: shown(otherSolana),
    lent,
    account(chainType, id) {
      const found = held.find((it) => it.chainType === chainType && (id === undefined || it.id === id))
      if (!found) throw new AppError('wallet/account-not-found', `There is no ${chainType} account ${id}.`)
      return shown(found)
    },
    accounts: () => held.map(shown),
    isUnlocked: () => !locked,
    async lend(id, use) {
      if (locked) throw new AppError('wallet/locked', 'The wallet is locked.')
      const account = held.find((it) => it.id === id)
      if (!account) throw new AppError('wallet/account-not-found', `There is no account ${id}.`)
      const owner = mixed ? held.find((it) => it.chainType === account.chainType && it.id !== id) : account
      const key = Uint8Array.from(owner?.key ?? [])
      lent.push(key)
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

function shown({ id, chainType, address, label }: Held): SigningAccount {
  return { id, chainType, address, label }
}

function evmAccount(index: number): Held {
  const wallet = HDNodeWallet.fromPhrase(phrase, undefined, `m/44'/60'/0'/0/${index}`)
  const key = Uint8Array.from(Buffer.from(wallet.privateKey.slice(2), 'hex'))
  return { id: idOf(`evm ${index}`), chainType: 'evm', address: wallet.address, label: `Account ${index + 1}`, key }
}

function solanaAccount(index: number): Held {
  const key = Uint8Array.from(createHash('sha256').update(`solana ${index}`).digest())
  const address = base58.encode(nacl.sign.keyPair.fromSeed(key).publicKey)
  return { id: idOf(`solana ${index}`), chainType: 'solana', address, label: `Solana ${index + 1}`, key }
}

function idOf(text: string) {
  return WalletAccountId.parse(`wal_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`)
}
