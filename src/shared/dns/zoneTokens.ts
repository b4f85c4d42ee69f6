export class ZoneFileError extends Error {
  /** Line number, starting with 1. */
  readonly line: number

  constructor(line: number, reason: string, options?: ErrorOptions) {
    super(`Line ${line}: ${reason}.`, options)
    this.name = 'ZoneFileError'
    this.line = line
  }
}

/** `text` includes escapes but not quotes. */
export type ZoneWord = { text: string; quoted: boolean }
export type ZoneEntry = {
  /** First line of the entry, starting with 1. */
  line: number
  /** Whether the entry starts with a space and thus has the name of the previous entry. */
  continues: boolean
  words: ZoneWord[]
}

const maxWordCount = 200

/** Splits a zone file into entries. Removes comments, and joins lines in parentheses. @throws ZoneFileError */
export function* readZoneEntries(text: string): Generator<ZoneEntry> {
  let offset = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  let depth = 0
  let entry: ZoneEntry | undefined
  let isLineStart = true
  const begun = (): ZoneEntry => {
    entry ??= { line, continues: false, words: [] }
    if (entry.words.length >= maxWordCount) throw new ZoneFileError(line, 'The record is too long')
    return entry
  }
  while (offset < text.length) {
    const character = text[offset] ?? ''
    if (character === '\n') {
      if (depth === 0) {
        if (entry && entry.words.length > 0) yield entry
        entry = undefined
        isLineStart = true
      }
      line += 1
      offset += 1
      continue
    }
    if (character === ' ' || character === '\t' || character === '\r') {
      if (isLineStart && character !== '\r' && depth === 0) entry = { line, continues: true, words: [] }
      isLineStart = false
      offset += 1
      continue
    }
    isLineStart = false
    if (character === ';') {
      while (offset < text.length && text[offset] !== '\n') offset += 1
    } else if (character === '(') {
      if (depth > 0) throw new ZoneFileError(line, 'Parentheses are nested')
      depth = 1
      offset += 1
    } else if (character === ')') {
      if (depth === 0) throw new ZoneFileError(line, 'The closing parenthesis has no opening one')
      depth = 0
      offset += 1
    } else {
      const word = character === '"' ? readQuotedWord(text, offset, line) : readBareWord(text, offset, line)
      begun().words.push(word)
      offset += word.text.length + (word.quoted ? 2 : 0)
    }
  }
  if (depth > 0) throw new ZoneFileError(line, 'A closing parenthesis is missing')
  if (entry && entry.words.length > 0) yield entry
}

function readQuotedWord(text: string, from: number, line: number): ZoneWord {
  let offset = from + 1
  while (text[offset] !== '"') {
    if (offset >= text.length || text[offset] === '\n') throw new ZoneFileError(line, 'A closing quote is missing')
    offset += text[offset] === '\\' ? 2 : 1
  }
  return { text: checkToken(text.slice(from + 1, offset), line), quoted: true }
}

function readBareWord(text: string, from: number, line: number): ZoneWord {
  let offset = from
  while (offset < text.length && !/[\s;()"]/.test(text[offset] ?? '')) offset += text[offset] === '\\' ? 2 : 1
  return { text: checkToken(text.slice(from, offset), line), quoted: false }
}

function checkToken(text: string, line: number): string {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) throw new ZoneFileError(line, 'The line contains a control character')
  return text
}
