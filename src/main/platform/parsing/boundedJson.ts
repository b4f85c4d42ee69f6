/** Limits of untrusted JSON. A value such as `1` has depth 0, `[]` has depth 1. */
export type JsonLimits = { maxBytes?: number; maxDepth?: number }

/** Deeper values overflow the stack of recursive code, such as schemas and `JSON.stringify`. */
export const defaultMaxDepth = 64
export const defaultMaxBytes = 64 * 1024 * 1024

/** Error for text that is not JSON or exceeds a limit. Its message never quotes the text, which may contain a secret. */
export class JsonError extends Error {
  readonly reason: 'malformed' | 'too-deep' | 'too-large'
  /** Predicate for a message such as "The body …". */
  readonly predicate: string

  constructor(reason: JsonError['reason'], predicate: string) {
    super(`The text ${predicate}.`)
    this.name = 'JsonError'
    this.reason = reason
    this.predicate = predicate
  }
}

/**
 * Parses untrusted JSON. Checks the depth before building any value.
 * @throws JsonError
 */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { maxBytes = defaultMaxBytes, maxDepth = defaultMaxDepth } = limits
  if (isLonger(text, maxBytes)) throw new JsonError('too-large', `has more than ${maxBytes} bytes`)
  if (isDeeper(text, maxDepth)) throw new JsonError('too-deep', `is nested more than ${maxDepth} levels deep`)
  const parsed = tryParse(text)
  if ('value' in parsed) return parsed.value
  throw new JsonError('malformed', `is not valid JSON${parsed.position ? ` (${parsed.position})` : ''}`)
}

/** Drops V8's error, and does not use it as a cause, because it quotes the text. */
function tryParse(text: string): { value: unknown } | { position: string | undefined } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { position: error instanceof SyntaxError ? error.message.match(/at position \d+/)?.[0] : undefined }
  }
}

/** Compares the size in UTF-8. A UTF-16 unit encodes to one to three bytes. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes
}

const quote = 0x22
const backslash = 0x5c
const isOpening = (unit: number): boolean => unit === 0x7b || unit === 0x5b
const isClosing = (unit: number): boolean => unit === 0x7d || unit === 0x5d

/**
 * Counts brackets outside strings. For malformed text, the count matches a parser's up to the first error, where a
 * parser stops.
 */
function isDeeper(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === quote) index = findStringEnd(text, index)
    else if (isOpening(unit)) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (isClosing(unit)) depth -= 1
  }
  return false
}

/** @returns the index of the closing quote, or the length of the text */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}
