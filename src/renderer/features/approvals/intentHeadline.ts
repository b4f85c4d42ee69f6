import type { IntentRecord } from '../../../shared/contract/intents.ts'
import { visibleText } from '../../ui/visibleText.ts'

const maxPurposeCharacters = 120

/**
 * Heads a request with what it is for, as people tell requests apart: `Pay 10.95 USDC: “Register northwind.com for 1
 * year”`. The amount is decoded from what is signed; the purpose is the requester's or the seller's word, hence quoted.
 * The full sentence with payee and network stands below it.
 */
export function intentHeadline(record: Pick<IntentRecord, 'kind' | 'fields' | 'sentence'>): string {
  const { kind, fields, sentence } = record
  const amount = fields.find((field) => field.kind === 'amount')?.value
  if (kind !== 'x402.authorize' || amount === undefined) return sentence
  const description = findValue(fields, 'Description', 'text')?.replace(/\s+/g, ' ').trim()
  if (description) return `Pay ${amount}: “${shorten(visibleText(description))}”`
  const address = paidAddress(record)
  return address === undefined ? sentence : `Pay ${amount} for ${address}`
}

/** Returns what a payment is for without scheme and query; undefined for other requests. */
export function paidAddress({ kind, fields }: Pick<IntentRecord, 'kind' | 'fields'>): string | undefined {
  const url = kind === 'x402.authorize' ? URL.parse(findValue(fields, 'For', 'url') ?? '') : null
  return url ? shorten(`${url.host}${url.pathname}`) : undefined
}

function findValue(fields: IntentRecord['fields'], label: string, kind: string): string | undefined {
  return fields.find((field) => field.label === label && field.kind === kind)?.value
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length > maxPurposeCharacters ? `${characters.slice(0, maxPurposeCharacters - 1).join('')}…` : text
}
