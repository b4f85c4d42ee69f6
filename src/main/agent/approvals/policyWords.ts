import type { AskerKind, IntentKind, Policy, PolicyRule } from '../../../shared/contract/intents.ts'
import { usdcDecimals } from '../../../shared/contract/networks.ts'
import { tokenAmount } from '../../../shared/tokenAmount.ts'

type Rules = Omit<Policy, 'stopped'>

/** A change of what is allowed, for the eyes of a person outside of the window. */
export type PolicyWords = {
  /** A question. */
  title: string
  sentence: string
  lines: readonly { label: string; value: string }[]
}

export const resumeWords: PolicyWords = {
  title: 'Resume signing?',
  sentence: 'Requests your policies allow will be signed again.',
  lines: [],
}

/** What holds afterwards and does not now, and what does not hold any more. */
export function policyWords(from: Rules, to: Rules): PolicyWords {
  const [before, after] = [from.rules.map(ruleWords), to.rules.map(ruleWords)]
  const confirm = ({ confirm_above_micro_usd: above }: Rules) => `above ${usd(above)}`
  const moved = before.filter((it) => after.includes(it)).join() !== after.filter((it) => before.includes(it)).join()
  return {
    title: 'Change your policies?',
    sentence: 'This allows more than before.',
    lines: [
      ...(confirm(from) === confirm(to)
        ? []
        : [{ label: 'Extra confirmation', value: `${confirm(to)}, was ${confirm(from)}` }]),
      ...after.flatMap((value, at) => (before.includes(value) ? [] : [{ label: `New rule ${at + 1}`, value }])),
      ...before.flatMap((value) => (after.includes(value) ? [] : [{ label: 'Removed', value }])),
      ...(moved ? [{ label: 'Order', value: 'Rules are in a different order.' }] : []),
    ],
  }
}

export const kindWords: Record<IntentKind, string> = {
  'identity.register': 'registrations',
  siwe: 'sign-ins with Ethereum',
  siws: 'sign-ins with Solana',
  'x402.authorize': 'payments',
  message: 'messages',
}

const askerWords: Record<AskerKind, string> = {
  person: 'you',
  client: 'programs with an API key',
  tool: 'tools',
  agent: 'Steward itself',
}

export function ruleWords({ effect, kind, asker, host, max_amount_micro_usd: most }: PolicyRule): string {
  const what = kind === '*' ? 'everything' : kindWords[kind]
  const who = asker === '*' ? 'anyone' : askerWords[asker]
  const where = host === '*' ? '' : ` at ${host}`
  const amount = most === null ? '' : ` up to ${usd(most)}`
  return `${effect} ${what} from ${who}${where}${amount}`
}

function usd(microUsd: string): string {
  return `$${tokenAmount(BigInt(microUsd), usdcDecimals)}`
}
