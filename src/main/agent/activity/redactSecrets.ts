import { createRequire } from 'node:module'
import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { Links } from '#shared/contract/timelineLinks.ts'
import { allPatterns, keyPatterns, redactedText, secretCandidatePattern } from './secretPatterns.ts'

type Detail = TimelineEntry['detail']

const publicFieldPattern = /(^|_)(hash|nonce|signature|transaction|sha256)$/
const secretFieldPattern =
  /(^|_)(passphrase|password|mnemonic|phrase|seed|private_key|secret|api_key|access_token|refresh_token|token|authorization|cookie)$/

/** Maximum length of a stored text in characters, and maximum number of fields in an entry's detail. */
export const maxStoredLength = 4_000
export const maxDetailFields = 40

/** Minimum number of words in a BIP-39 phrase. */
const minPhraseLength = 12
const load = createRequire(import.meta.url)

/**
 * Redacts text that looks like a key, token or recovery phrase. This is the last line of defense for the immutable log:
 * callers already omit secrets from their entries.
 */
export function redactSecrets<
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
    actor: { ...entry.actor, name: redactText(entry.actor.name) },
    summary: redactText(entry.summary),
    ...(entry.subject !== undefined && { subject: redactText(entry.subject) }),
    ...(entry.detail !== undefined && { detail: redactDetail(entry.detail) }),
    ...(entry.links !== undefined && { links: redactDetail(entry.links as Detail) }),
  }
}

/** Texts are first truncated to twice the stored length, because the search time grows with the length. */
export function redactText(text: string, field = ''): string {
  if (secretFieldPattern.test(field)) return redactedText
  const isCut = text.length > 2 * maxStoredLength
  const head = isCut ? text.slice(0, 2 * maxStoredLength) : text
  const clean = redactPhrases(secretCandidatePattern.test(head) ? redactSecretShapes(head, field) : head)
  // Removes the part that may contain a secret split by the first truncation.
  return isCut ? `${clean.slice(0, Math.max(0, clean.length - maxStoredLength))}…` : clean
}

function redactSecretShapes(text: string, field: string): string {
  const shapes = publicFieldPattern.test(field) ? keyPatterns : allPatterns
  let clean = text
  // The overloads of `replaceAll` do not accept a union.
  for (const { pattern, replace } of shapes) clean = clean.replace(pattern, replace as string)
  return clean
}

function redactDetail(detail: Detail): Detail {
  return Object.fromEntries(
    Object.entries(detail)
      .slice(0, maxDetailFields + 1) // one extra, because one field may be dropped
      .map(([name, value]) => [redactText(name), typeof value === 'string' ? redactText(value, name) : value]),
  )
}

/** Redacts consecutive words of the BIP-39 list, with any separators between them. */
function redactPhrases(text: string): string {
  const words = [...text.matchAll(/[a-z]+/gi)]
  if (!findRun(words, 0, ([word]) => word.length >= 3 && word.length <= 8)) return text
  const { wordlist } = load('@scure/bip39/wordlists/english') as { wordlist: readonly string[] }
  const wordSet = new Set(wordlist)
  const isListedWord = ([word]: RegExpExecArray): boolean => wordSet.has(word.toLowerCase())
  let clean = ''
  let end = 0
  for (let run = findRun(words, 0, isListedWord); run; run = findRun(words, run.next, isListedWord)) {
    clean += text.slice(end, run.start) + redactedText
    end = run.end
  }
  return clean + text.slice(end)
}

/**
 * Finds the next run that starts at or after a word.
 * @returns start and end of the run in the text, and the index of the following word
 */
function findRun(words: readonly RegExpExecArray[], from: number, fits: (word: RegExpExecArray) => boolean) {
  let first = from
  for (let next = from; next <= words.length; next++) {
    const word = words[next]
    if (word && fits(word)) continue
    const [begin, last] = [words[first], words[next - 1]]
    if (next - first >= minPhraseLength && begin && last) {
      return { start: begin.index, end: last.index + last[0].length, next }
    }
    first = next + 1
  }
  return undefined
}
