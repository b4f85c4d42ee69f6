import { createRequire } from 'node:module'
import type { TimelineEntry } from '../../../shared/contract/timeline.ts'
import type { Links } from '../../../shared/contract/timelineLinks.ts'
import { allShapes, keyShapes, maybeSecret, removed } from './secretShapes.ts'

type Detail = TimelineEntry['detail']

const openFields = /(^|_)(hash|nonce|signature|transaction|sha256)$/
const secretFields =
  /(^|_)(passphrase|password|mnemonic|phrase|seed|private_key|secret|api_key|access_token|refresh_token|token|authorization|cookie)$/

/** The fewest words of BIP-39. */
const fewestWords = 12
const load = createRequire(import.meta.url)

/**
 * The last line of defence of the log, which is never changed again: what looks like a key, a token or a recovery
 * phrase is replaced. Whoever notes something leaves secrets out of it in the first place.
 */
export function withoutSecrets<
  T extends {
    actor: TimelineEntry['actor']
    summary: string
    subject?: string | undefined
    detail?: Detail | undefined
    links?: Links | undefined
  },
>(entry: T): T {
  return {
    ...entry,
    actor: { ...entry.actor, name: cleanText(entry.actor.name) },
    summary: cleanText(entry.summary),
    ...(entry.subject !== undefined && { subject: cleanText(entry.subject) }),
    ...(entry.detail !== undefined && { detail: cleanDetail(entry.detail) }),
    ...(entry.links !== undefined && { links: cleanDetail(entry.links as Detail) }),
  }
}

export function cleanText(text: string, field = ''): string {
  if (secretFields.test(field)) return removed
  return withoutPhrases(maybeSecret.test(text) ? withoutShapes(text, field) : text)
}

function withoutShapes(text: string, field: string): string {
  const shapes = openFields.test(field) ? keyShapes : allShapes
  let clean = text
  // The type of `replaceAll` knows no union of its two forms.
  for (const { pattern, replace } of shapes) clean = clean.replace(pattern, replace as string)
  return clean
}

function cleanDetail(detail: Detail): Detail {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [
      cleanText(name),
      typeof value === 'string' ? cleanText(value, name) : value,
    ]),
  )
}

/** Words of the list, one after the other, whatever stands between them. */
function withoutPhrases(text: string): string {
  const words = [...text.matchAll(/[a-z]+/gi)]
  if (!longRun(words, ([word]) => word.length >= 3 && word.length <= 8)) return text
  const { wordlist } = load('@scure/bip39/wordlists/english') as { wordlist: readonly string[] }
  const known = new Set(wordlist)
  const run = longRun(words, ([word]) => known.has(word.toLowerCase()))
  if (!run) return text
  const after = text.slice(run.last.index + run.last[0].length)
  return `${text.slice(0, run.first.index)}${removed}${withoutPhrases(after)}`
}

function longRun(words: readonly RegExpExecArray[], fits: (word: RegExpExecArray) => boolean) {
  let first: RegExpExecArray | undefined
  let last: RegExpExecArray | undefined
  let length = 0
  for (const word of words) {
    if (!fits(word)) {
      if (length >= fewestWords) break
      length = 0
      continue
    }
    if (length === 0) first = word
    last = word
    length += 1
  }
  return first && last && length >= fewestWords ? { first, last } : undefined
}
