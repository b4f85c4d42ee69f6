import type { Intent } from '../../../shared/contract/intents.ts'

/**
 * What must be the same for an approval in advance to hold, beyond what the asker says of itself: the payee and the
 * network of a payment (CAIP-10), the chain of a sign-in (CAIP-2). Of a prepared intent, whose network is written in
 * one way.
 * @see https://chainagnostic.org/CAIPs/caip-10
 */
export function scopeOf(intent: Intent): string | null {
  if (intent.kind === 'x402.authorize') return `${intent.network}:${intent.pay_to.toLowerCase()}`
  if (intent.kind === 'siwe') return `eip155:${intent.chain_id}`
  if (intent.kind === 'siws') return `solana:${intent.chain_id.replace(/^solana:/, '')}`
  return null
}
