import { createHash } from 'node:crypto'
import { HDNodeWallet, id, verifyMessage, Wallet } from 'ethers'
import nacl from 'tweetnacl'
import { privateKeyToAccount } from 'viem/accounts'
import { deriveScryptKey } from '#agent/wallet/scrypt.ts'
import { registerTypedData } from '#shared/contract/automatons.ts'

/** Mnemonic that the documentation of most local chains uses. */
export const benchPhrase = 'test test test test test test test test test test test junk'

type Registered = { automatonId: string; nonce: string; payloadHash: `0x${string}` }

/** Creates an account with its key in plain memory, as scripts do. */
export function viemAccount() {
  const { privateKey } = HDNodeWallet.fromPhrase(benchPhrase)
  const account = privateKeyToAccount(privateKey as `0x${string}`)
  const { version, chainId, types, primaryType } = registerTypedData
  return {
    sign: (message: Registered) =>
      account.signTypedData({ domain: { name: 'AIWS Automaton', version, chainId }, types, primaryType, message }),
  }
}

export function ethersWallet() {
  const wallet = new Wallet(HDNodeWallet.fromPhrase(benchPhrase).privateKey)
  return {
    address: wallet.address,
    signText: (text: string) => wallet.signMessage(text),
    verify: (text: string, signature: string) => verifyMessage(text, signature) === wallet.address,
    /** Sorts the keys with JSON.stringify, then hashes. */
    canonicalHash: (value: object) => id(JSON.stringify(value, Object.keys(value).sort())),
  }
}

export function naclSigner() {
  const { secretKey } = nacl.sign.keyPair.fromSeed(createHash('sha256').update('bench').digest())
  return { sign: (text: string) => nacl.sign.detached(new TextEncoder().encode(text), secretKey) }
}

/** Runs only the key derivation, at the wallet's strength. */
export const bareScrypt = (passphrase: string) =>
  deriveScryptKey(Buffer.from(passphrase), Buffer.alloc(32, 7), { n: 2 ** 17, r: 8, p: 1, bytes: 32 })
