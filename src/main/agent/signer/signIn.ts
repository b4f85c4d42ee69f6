import { evmNetwork } from '#shared/contract/networks.ts'
import { shortAddress } from '#shared/shortAddress.ts'
import { formatSignInMessage, isStatement } from '#shared/signInMessage.ts'
import { isoTime } from '#shared/time.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import { personalHash } from './evmSignature.ts'
import { siteOf } from './site.ts'
import { signSolana } from './solanaSignature.ts'
import { type IntentOf, type IntentTools, refused, type ShownField, type Understood } from './understood.ts'

type SignInIntent = IntentOf<'siwe' | 'siws'>

const minute = 60_000
const limits = {
  /** Of clocks that go ahead of ours. */
  aheadMs: 2 * minute,
  /** A person may decide a day later. */
  oldestMs: 25 * 60 * minute,
  longestMs: 24 * 60 * minute,
  usualMs: 60 * minute,
} as const

const solanaChains = ['mainnet', 'testnet', 'devnet', 'localnet']

/** Sign-In With Ethereum (EIP-4361) and Sign In With Solana. */
export async function signIn(intent: SignInIntent, tools: IntentTools): Promise<Understood> {
  const site = siteOf('uri', intent.uri)
  if (intent.domain !== site.host) {
    throw refused(`domain ${JSON.stringify(intent.domain)} is not ${site.host}, the host of uri.`)
  }
  const { statement } = intent
  if (statement !== undefined && !isStatement(statement)) {
    throw refused('statement must hold letters and digits of ASCII and the punctuation of EIP-4361, on one line.')
  }
  const network = networkOf(intent)
  const { issuedAt, expirationTime } = timesOf(intent, tools.now())
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
      sentence: `Sign in to ${domain} as ${shortAddress(address)}${network.test ? `, on ${network.name}` : ''}.`,
      fields: [
        { label: 'Site', value: domain, kind: 'text' },
        { label: 'URL', value: uri, kind: 'url' },
        ...accountFields(account),
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
          ? await tools.signEvm(account, await personalHash(text))
          : await signSolana(tools.keys, account, text)
      return { kind: intent.kind, address, signature, message: text }
    },
  }
}

function networkOf(intent: SignInIntent): { name: string; test: boolean } {
  if (intent.kind === 'siwe') {
    const known = evmNetwork(String(intent.chain_id))
    if (known) return known
    throw refused(`chain_id ${intent.chain_id} is not a network Steward knows.`)
  }
  const name = intent.chain_id.replace(/^solana:/, '')
  if (!solanaChains.includes(name)) {
    throw refused(`chain_id ${JSON.stringify(intent.chain_id)} is not a Solana network: ${solanaChains.join(', ')}.`)
  }
  return { name: `Solana ${name}`, test: name !== 'mainnet' }
}

function timesOf(intent: SignInIntent, now: number): { issuedAt: string; expirationTime: string } {
  const issued = intent.issued_at === undefined ? now : Date.parse(intent.issued_at)
  if (Number.isNaN(issued) || issued > now + limits.aheadMs || issued < now - limits.oldestMs) {
    throw refused(`issued_at ${intent.issued_at} is not from the last day.`)
  }
  const expires = intent.expiration_time === undefined ? issued + limits.usualMs : Date.parse(intent.expiration_time)
  if (Number.isNaN(expires) || expires <= now || expires <= issued) {
    throw refused(`expiration_time ${intent.expiration_time ?? isoTime(expires)} has passed.`)
  }
  if (expires - issued > limits.longestMs) {
    throw refused(`expiration_time ${intent.expiration_time} is more than a day after ${isoTime(issued)}.`)
  }
  return { issuedAt: isoTime(issued), expirationTime: isoTime(expires) }
}

function accountFields({ address, label }: SigningAccount): ShownField[] {
  return [
    { label: 'Account', value: label, kind: 'text' },
    { label: 'Address', value: address, kind: 'address' },
  ]
}
