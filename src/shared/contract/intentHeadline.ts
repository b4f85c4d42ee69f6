import { revealHidden } from '../untrustedText.ts'
import type { IntentRecord } from './intents.ts'

const maxPurposeCharacters = 120
const quotationMarks = /["“”„‟«»‹›＂]/g
/** Host and path of a URL without user information. Other URLs do not match. */
const hostAndPath = /^https?:\/\/([^/?#@\\\s]+)(?=[/?#]|$)(\/[^?#\\]*)?/i

/**
 * Returns a headline with the purpose of a request, such as `Pay 10.95 USDC: “Register northwind.com for 1 year”`. The
 * amount is decoded from the payload to sign. The purpose is unverified text of the requester or seller, so it is
 * quoted, and its quotation marks become apostrophes, so that it cannot end the quotation.
 */
export function describeIntent(record: Pick<IntentRecord, 'kind' | 'fields' | 'sentence'>): string {
  const { kind, fields, sentence } = record
  const amount = fields.find((field) => field.kind === 'amount')?.value
  if (kind !== 'x402.authorize' || amount === undefined) return sentence
  const description = findValue(fields, 'Description', 'text')?.replace(/\s+/g, ' ').replace(quotationMarks, '’').trim()
  if (description) return `Pay ${amount}: “${shorten(revealHidden(description))}”`
  const address = findPaidAddress(record)
  return address === undefined ? sentence : `Pay ${amount} for ${address}`
}

/** Returns the URL of a payment without scheme and query, or undefined for other requests. */
export function findPaidAddress({ kind, fields }: Pick<IntentRecord, 'kind' | 'fields'>): string | undefined {
  if (kind !== 'x402.authorize') return undefined
  const [, host, path = '/'] = hostAndPath.exec(findValue(fields, 'For', 'url') ?? '') ?? []
  return host === undefined ? undefined : shorten(`${host.toLowerCase()}${path}`)
}

function findValue(fields: IntentRecord['fields'], label: string, kind: string): string | undefined {
  return fields.find((field) => field.label === label && field.kind === kind)?.value
}

function shorten(text: string): string {
  const characters = [...text]
  return characters.length > maxPurposeCharacters ? `${characters.slice(0, maxPurposeCharacters - 1).join('')}…` : text
}
