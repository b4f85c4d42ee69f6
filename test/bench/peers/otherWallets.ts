import { createHash } from 'node:crypto'
import { HDNodeWallet, id, verifyMessage, Wallet } from 'ethers'
import nacl from 'tweetnacl'
import { privateKeyToAccount } from 'viem/accounts'
import { deriveScryptKey } from '#agent/wallet/scrypt.ts'
import { registerTypedData } from '#shared/contract/automatons.ts'

/** The phrase of every documentation of a local chain. */
export const benchPhrase = 'test test test test test test test test test test test junk'

type Registered = { automatonId: string; nonce: string; payloadHash: `0x${string}` }

/** A key in plain memory, as scripts have it. */
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
    /** Sorts as JSON.stringify can, then hashes. */
    canonicalHash: (value: object) => id(JSON.stringify(value, Object.keys(value).sort())),
  }
}

export function naclSigner() {
  const { secretKey } = nacl.sign.keyPair.fromSeed(createHash('sha256').update('bench').digest())
  return { sign: (text: string) => nacl.sign.detached(new TextEncoder().encode(text), secretKey) }
}

/** The derivation alone, at the strength that the wallet uses. */
export const bareScrypt = (passphrase: string) =>
  deriveScryptKey(Buffer.from(passphrase), Buffer.alloc(32, 7), { n: 2 ** 17, r: 8, p: 1, bytes: 32 })
