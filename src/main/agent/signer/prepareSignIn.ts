import { findEvmNetwork } from '#shared/contract/networks.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { formatSignInMessage, isStatement } from '#shared/signInMessage.ts'
import { toIsoTime } from '#shared/time.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import { hashPersonalMessage } from './evmSignature.ts'
import {
  createInvalidIntentError,
  type IntentField,
  type IntentOf,
  type IntentTools,
  type ParsedIntent,
} from './parsedIntent.ts'
import { toSite } from './site.ts'
import { signSolana } from './solanaSignature.ts'

type SignInIntent = IntentOf<'siwe' | 'siws'>

const minute = 60_000
const limits = {
  /** Tolerance for clocks that are ahead. */
  aheadMs: 2 * minute,
  /** Maximum age, because the user may decide a day later. */
  oldestMs: 25 * 60 * minute,
  maxMs: 24 * 60 * minute,
  defaultMs: 60 * minute,
} as const

const solanaChains = ['mainnet', 'testnet', 'devnet', 'localnet']

/** Signs Sign-In With Ethereum (EIP-4361) and Sign In With Solana messages. */
export async function prepareSignIn(intent: SignInIntent, tools: IntentTools): Promise<ParsedIntent> {
  const site = toSite('uri', intent.uri)
  if (intent.domain !== site.host) {
    throw createInvalidIntentError(`domain ${JSON.stringify(intent.domain)} is not ${site.host}, the host of uri.`)
  }
  const { statement } = intent
  if (statement !== undefined && !isStatement(statement)) {
    throw createInvalidIntentError(
      'statement must be one line of ASCII letters, digits and the punctuation that EIP-4361 allows.',
    )
  }
  const network = getNetwork(intent)
  const { issuedAt, expirationTime } = readTimes(intent, tools.now())
  const chainType = intent.kind === 'siwe' ? 'evm' : 'solana'
  const account = tools.keys.account(chainType, intent.account_id)
  const { domain, uri, nonce } = intent
  const { address } = account
  const fields = { uri, version: '1', chainId: String(intent.chain_id), nonce, issuedAt, expirationTime }
  const text = formatSignInMessage({ chainType, domain, address, statement, fields })

  return {
    prepared: {
      intent: { ...intent, account_id: account.id, issued_at: issuedAt, expiration_time: expirationTime },
      account,
      sentence: `Sign in to ${domain} as ${shortenAddress(address)}${network.test ? `, on ${network.name}` : ''}.`,
      fields: [
        { label: 'Site', value: domain, kind: 'text' },
        { label: 'URL', value: uri, kind: 'url' },
        ...toAccountFields(account),
        ...(statement === undefined ? [] : [{ label: 'Statement', value: statement, kind: 'text' as const }]),
        { label: 'Network', value: network.name, kind: 'text' },
        { label: 'Nonce', value: nonce, kind: 'text' },
        { label: 'Issued', value: issuedAt, kind: 'time' },
        { label: 'Expires', value: expirationTime, kind: 'time' },
        ...site.warnings,
        ...(network.test
          ? [{ label: 'Test network', value: `${network.name} is a test network.`, kind: 'warning' as const }]
          : []),
      ],
      raw: text,
      host: site.host,
      amountMicroUsd: null,
    },
    async sign() {
      const signature =
        chainType === 'evm'
          ? await tools.signEvm(account, await hashPersonalMessage(text))
          : await signSolana(tools.keys, account, text)
      return { kind: intent.kind, address, signature, message: text }
    },
  }
}

function getNetwork(intent: SignInIntent): { name: string; test: boolean } {
  if (intent.kind === 'siwe') {
    const network = findEvmNetwork(String(intent.chain_id))
    if (network) return network
    throw createInvalidIntentError(`chain_id ${intent.chain_id} is not a supported network.`)
  }
  const name = intent.chain_id.replace(/^solana:/, '')
  if (!solanaChains.includes(name)) {
    throw createInvalidIntentError(
      `chain_id ${JSON.stringify(intent.chain_id)} is not a Solana network: ${solanaChains.join(', ')}.`,
    )
  }
  return { name: `Solana ${name}`, test: name !== 'mainnet' }
}

function readTimes(intent: SignInIntent, now: number): { issuedAt: string; expirationTime: string } {
  const issued = intent.issued_at === undefined ? now : Date.parse(intent.issued_at)
  if (Number.isNaN(issued) || issued > now + limits.aheadMs || issued < now - limits.oldestMs) {
    throw createInvalidIntentError(`issued_at ${intent.issued_at} is not from the last day.`)
  }
  const expires = intent.expiration_time === undefined ? issued + limits.defaultMs : Date.parse(intent.expiration_time)
  if (Number.isNaN(expires) || expires <= now || expires <= issued) {
    throw createInvalidIntentError(`expiration_time ${intent.expiration_time ?? toIsoTime(expires)} has passed.`)
  }
  if (expires - issued > limits.maxMs) {
    throw createInvalidIntentError(
      `expiration_time ${intent.expiration_time} is more than a day after ${toIsoTime(issued)}.`,
    )
  }
  return { issuedAt: toIsoTime(issued), expirationTime: toIsoTime(expires) }
}

function toAccountFields({ address, label }: SigningAccount): IntentField[] {
  return [
    { label: 'Account', value: label, kind: 'text' },
    { label: 'Address', value: address, kind: 'address' },
  ]
}
