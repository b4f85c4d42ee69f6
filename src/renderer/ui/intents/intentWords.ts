import type { AskerKind, IntentKind, PolicyRule } from '../../../shared/contract/intents.ts'
import { evmNetwork } from '../../../shared/contract/networks.ts'
import { shortAddress } from '../../../shared/shortAddress.ts'
import { usdText } from '../usd.ts'

/** As the name of a kind. */
export const kindNames: Record<IntentKind, string> = {
  'identity.register': 'Register an identity',
  siwe: 'Sign in with Ethereum',
  siws: 'Sign in with Solana',
  'x402.authorize': 'Pay',
  message: 'Sign a message',
}

/** As the name of who asks. */
export const askerNames: Record<AskerKind, string> = {
  person: 'You',
  client: 'Programs with an API key',
  tool: 'Tools',
  agent: 'Steward itself',
}

type Scope = Pick<PolicyRule, 'kind' | 'host' | 'max_amount_micro_usd'>

/** Behind the deed: ` to 0x2222…2222 on Base`; of a payment alone, whose payee is what the person looks at. */
export function payeeWords(scope: string | null): string {
  const [, network = '', payee = ''] = /^(eip155:\d+):(0x[0-9a-f]{40})$/.exec(scope ?? '') ?? []
  if (payee === '') return ''
  return ` to ${shortAddress(payee)} on ${evmNetwork(network)?.name ?? network}`
}

/** After `may`: `sign in with Ethereum to 127.0.0.1:4000`, `pay up to $5.00 anywhere`. */
export function deedWords({ kind, host, max_amount_micro_usd: most }: Scope): string {
  const deed = kind === '*' ? 'have anything signed' : kindNames[kind].toLowerCase().replace(/ethereum|solana/, capital)
  const amount = most === null ? '' : ` up to ${usdText(most)}`
  return `${deed}${amount}${placeWords(kind, host)}`
}

function placeWords(kind: Scope['kind'], host: string): string {
  const isSignIn = kind === 'siwe' || kind === 'siws'
  if (host === '*') return isSignIn ? ' to any site' : kind === 'x402.authorize' ? ' anywhere' : ''
  const place = host.startsWith('*.') ? `any site below ${host.slice(2)}` : host
  return isSignIn ? ` to ${place}` : kind === 'x402.authorize' ? ` at ${place}` : ` for ${place}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
