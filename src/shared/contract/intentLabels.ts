import { formatUsd } from '../money/moneyText.ts'
import { openRecord, toPlainWord } from '../openRecord.ts'
import { shortenAddress } from '../shortAddress.ts'
import type { IntentKind, PolicyRule, RequesterKind } from './intents.ts'
import { findEvmNetwork, findSolanaNetwork } from './networks.ts'

/** Display names of intent kinds. */
export const kindNames: Record<IntentKind, string> = openRecord(
  {
    'identity.register': 'Register an identity',
    siwe: 'Sign in with Ethereum',
    siws: 'Sign in with Solana',
    'x402.authorize': 'Pay',
    message: 'Sign a message',
    'tool.call': 'Run a tool that destroys',
  },
  toPlainWord,
)

/** Display names of requester kinds. */
export const requesterNames: Record<RequesterKind, string> = openRecord(
  {
    person: 'You',
    client: 'Programs with an API key',
    tool: 'Tools',
    agent: 'Steward itself',
  },
  toPlainWord,
)

const anything = 'have anything signed'
type Scope = Pick<PolicyRule, 'kind' | 'host' | 'max_amount_micro_usd'>

/**
 * Formats the payee after an action: ` to 0x2222…2222 on Base`. Only for payments, where the payee matters to the user.
 */
export function describePayee(scope: string | null): string {
  const [, network = '', payee = ''] =
    /^([a-z0-9]+:[A-Za-z0-9]+):(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(scope ?? '') ?? []
  if (payee === '') return ''
  return ` to ${shortenAddress(payee)} on ${(findEvmNetwork(network) ?? findSolanaNetwork(network))?.name ?? network}`
}

/** Formats an action after `may`: `sign in with Ethereum to 127.0.0.1:4000`, `pay up to $5.00 anywhere`. */
export function describeAction({ kind, host, max_amount_micro_usd: maxMicroUsd }: Scope): string {
  const deed = kind === '*' ? anything : kindNames[kind].toLowerCase().replace(/ethereum|solana/, capitalize)
  const amount = maxMicroUsd === null ? '' : ` up to ${formatUsd(maxMicroUsd, 'exact')}`
  return `${deed}${amount}${describeTarget(kind, host)}`
}

function describeTarget(kind: Scope['kind'], host: string): string {
  const isSignIn = kind === 'siwe' || kind === 'siws'
  if (host === '*') return isSignIn ? ' to any site' : kind === 'x402.authorize' ? ' anywhere' : ''
  const target = host.startsWith('*.') ? `any site below ${host.slice(2)}` : host
  return isSignIn ? ` to ${target}` : kind === 'x402.authorize' ? ` at ${target}` : ` for ${target}`
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Formats a rule as a sentence: `Tools may pay up to $5.00 at api.example.com without asking you.` */
export function describeRule(rule: PolicyRule): string {
  const deed = describeAction(rule)
  const requester = rule.requester === '*' ? 'Anyone' : requesterNames[rule.requester]
  switch (rule.effect) {
    case 'allow':
      return rule.requester === 'person'
        ? `You may ${deed} without confirmation.`
        : `${requester} may ${deed} without asking you.`
    case 'ask':
      if (deed === anything)
        return `Anything from ${rule.requester === '*' ? 'anyone' : requester} needs your approval.`
      return `${requester} may ${deed} only with your approval.`
    case 'deny':
      return rule.requester === '*' ? `Nobody may ${deed}.` : `${requester} may never ${deed}.`
  }
}
