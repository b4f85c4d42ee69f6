import { base58 } from '@scure/base'
import { createSignInMessageText } from '@solana/wallet-standard-util'
import nacl from 'tweetnacl'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type CreateSiweMessageParameters, createSiweMessage } from 'viem/siwe'
import { type Answer, exchange } from '../processes/runningService.ts'

/** Wallets that sign in as independent clients. */
export type SigningWallet = {
  address: string
  sign(text: string): Promise<string>
  /** Creates a new message and its signature, the body of a sign-in. */
  signedMessage(url: string): Promise<{ message: string; signature: string; chain_type: 'evm' | 'solana' }>
  signIn(url: string): Promise<Answer>
}

/** @param now clock of the service, if it is simulated */
export function evmWallet(
  now: () => number = Date.now,
): SigningWallet & { address: `0x${string}`; privateKey: `0x${string}` } {
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  const sign = (message: string) => account.signMessage({ message })
  const wallet = signingWallet({
    chainType: 'evm',
    address: account.address,
    sign,
    messageFor: (url, nonce) => siweMessage(url, { address: account.address, nonce, issuedAt: new Date(now()) }),
  })
  return { ...wallet, privateKey }
}

export function solanaWallet(now: () => number = Date.now): SigningWallet & { signBytes(text: string): Uint8Array } {
  const { publicKey, secretKey } = nacl.sign.keyPair()
  const address = base58.encode(publicKey)
  const signBytes = (text: string) => nacl.sign.detached(new TextEncoder().encode(text), secretKey)
  const wallet = signingWallet({
    chainType: 'solana',
    address,
    sign: async (text) => base58.encode(signBytes(text)),
    messageFor: (url, nonce) =>
      createSignInMessageText({ ...siwsInput(url, address), issuedAt: new Date(now()).toISOString(), nonce }),
  })
  return { ...wallet, signBytes }
}

/** Builds the message with `viem` from default fields and overrides. */
export function siweMessage(
  url: string,
  fields: Pick<CreateSiweMessageParameters, 'address' | 'nonce'> & Partial<CreateSiweMessageParameters>,
): string {
  return createSiweMessage({
    domain: new URL(url).host,
    statement: 'Sign in to Steward.',
    uri: `${url}/v1/auth/verify`,
    version: '1',
    chainId: 8453,
    issuedAt: new Date(),
    ...fields,
  })
}

export function siwsInput(url: string, address: string) {
  return {
    domain: new URL(url).host,
    address,
    statement: 'Sign in to Steward.',
    uri: url,
    version: '1',
    chainId: 'mainnet',
    issuedAt: new Date().toISOString(),
  }
}

export async function newNonce(url: string): Promise<string> {
  const { json } = await exchange(url, '/v1/auth/nonce', { method: 'POST' })
  return json.nonce
}

function signingWallet<A extends string>(options: {
  chainType: 'evm' | 'solana'
  address: A
  sign: SigningWallet['sign']
  messageFor: (url: string, nonce: string) => string
}): SigningWallet & { address: A } {
  const { chainType, address, sign, messageFor } = options
  const signMessage = async (url: string) => {
    const message = messageFor(url, await newNonce(url))
    return { message, signature: await sign(message), chain_type: chainType }
  }
  return {
    address,
    sign,
    signedMessage: signMessage,
    signIn: async (url) => exchange(url, '/v1/auth/verify', { body: await signMessage(url) }),
  }
}
