import type { IntentRecord } from '../../../shared/contract/intents.ts'
import { visibleText } from '../../ui/visibleText.ts'

const maxPurposeCharacters = 120

/**
 * Heads a request with what it is for, as people tell requests apart: `Pay 10.95 USDC: “Register northwind.com for 1
 * year”`. The amount is decoded from what is signed; the purpose is the requester's or the seller's word, hence quoted.
 * The full sentence with payee and network stands below it.
 */
export function intentHeadline({ kind, fields, sentence }: Pick<IntentRecord, 'kind' | 'fields' | 'sentence'>): string {
  if (kind !== 'x402.authorize') return sentence
  const findValue = (label: string, type: string) =>
    fields.find((field) => field.label === label && field.kind === type)?.value
  const amount = fields.find((field) => field.kind === 'amount')?.value
  const description = findValue('Description', 'text')?.replace(/\s+/g, ' ').trim()
  const url = URL.parse(findValue('For', 'url') ?? '')
  if (amount === undefined) return sentence
  if (description) return `Pay ${amount}: “${shorten(visibleText(description))}”`
  return url ? `Pay ${amount} for ${shorten(`${url.host}${url.pathname}`)}` : sentence
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length > maxPurposeCharacters ? `${characters.slice(0, maxPurposeCharacters - 1).join('')}…` : text
}
