import { createInvalidIntentError, type IntentField } from './parsedIntent.ts'

/** Bidirectional controls and lone surrogates. */
const bidirectionalPattern = /[\u202a-\u202e\u2066-\u2069]|\p{Cs}/u
/** Invisible format characters, except U+200D, which joins emoji. */
const invisible = /(?!\u200d)\p{Cf}/u

/**
 * Rejects text that would be displayed differently from what is signed.
 * @param allowed control characters that are accepted
 * @throws AppError `intent/invalid`
 */
export function assertPlainText(name: string, text: string, allowed: '' | '\n\t' = ''): void {
  for (const character of text) {
    if (allowed.includes(character) && allowed !== '') continue
    if (/\p{Cc}|[\u2028\u2029]/u.test(character)) {
      throw createInvalidIntentError(
        `${name} contains the control character ${formatCodePoint(character)}, which can hide text.`,
      )
    }
    if (bidirectionalPattern.test(character)) {
      throw createInvalidIntentError(`${name} contains ${formatCodePoint(character)}, which can disguise text.`)
    }
  }
}

/** Returns a warning field if the text contains invisible characters. */
export function listInvisibleWarnings(name: string, text: string): IntentField[] {
  const character = invisible.exec(text)?.[0]
  if (character === undefined) return []
  return [{ label: 'Invisible characters', value: `${name} contains ${formatCodePoint(character)}.`, kind: 'warning' }]
}

/** Shortens text for sentences. Fields show the complete text. */
export function shorten(text: string, maxLength: number): string {
  const characters = [...text.replaceAll(/\s+/g, ' ')]
  return characters.length <= maxLength ? characters.join('') : `${characters.slice(0, maxLength - 1).join('')}…`
}

function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
