import { describeRequester } from '#shared/contract/describeRequester.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { describePurchase } from '#shared/contract/purchaseLabels.ts'

/**
 * Describes other requesters of the same product, for example `Chat also asks to register example.com. One approval is
 * enough.`
 * @returns undefined if there are no others
 */
export function describeRivals({ id, purchase }: IntentRecord, inbox: readonly IntentRecord[]): string | undefined {
  if (purchase === null) return undefined
  const others = inbox.filter(
    (candidate) => candidate.id !== id && candidate.purchase === purchase && isOpen(candidate),
  )
  const names = [...new Set(others.map(({ requester }) => describeRequester(requester).name))]
  if (names.length === 0) return undefined
  const also = names.length === 1 && names[0] !== 'You' ? 'also asks' : 'also ask'
  return `${formatList(names)} ${also} to ${describePurchase(purchase)}. One approval is enough.`
}

function isOpen({ state }: IntentRecord): boolean {
  return state === 'waiting' || state === 'approved'
}

function formatList(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
