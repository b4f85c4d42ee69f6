/** What is wrong with a zone file, and where. */
export class ZoneFileFault extends Error {
  /** From 1 on. */
  readonly line: number

  constructor(line: number, what: string, options?: ErrorOptions) {
    super(`Line ${line}: ${what}.`, options)
    this.name = 'ZoneFileFault'
    this.line = line
  }
}

/** `text` is as it stands in the file, with its escapes, without its quotes. */
export type ZoneWord = { text: string; quoted: boolean }
export type ZoneEntry = {
  /** Where it begins. */
  line: number
  /** It begins with a space: its name is that of the entry before. */
  continues: boolean
  words: ZoneWord[]
}

const mostWords = 200

/**
 * Cuts a zone file into its entries: comments are gone, and what stands in parentheses is one entry.
 * @throws ZoneFileFault
 */
export function* zoneEntries(text: string): Generator<ZoneEntry> {
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  let depth = 0
  let entry: ZoneEntry | undefined
  let isLineStart = true
  const begun = (): ZoneEntry => {
    entry ??= { line, continues: false, words: [] }
    if (entry.words.length >= mostWords) throw new ZoneFileFault(line, 'The record is too long')
    return entry
  }
  while (at < text.length) {
    const character = text[at] ?? ''
    if (character === '\n') {
      if (depth === 0) {
        if (entry && entry.words.length > 0) yield entry
        entry = undefined
        isLineStart = true
      }
      line += 1
      at += 1
      continue
    }
    if (character === ' ' || character === '\t' || character === '\r') {
      if (isLineStart && character !== '\r' && depth === 0) entry = { line, continues: true, words: [] }
      isLineStart = false
      at += 1
      continue
    }
    isLineStart = false
    if (character === ';') {
      while (at < text.length && text[at] !== '\n') at += 1
    } else if (character === '(') {
      if (depth > 0) throw new ZoneFileFault(line, 'Parentheses stand in parentheses')
      depth = 1
      at += 1
    } else if (character === ')') {
      if (depth === 0) throw new ZoneFileFault(line, 'There is a closing parenthesis without an opening one')
      depth = 0
      at += 1
    } else {
      const word = character === '"' ? quotedWord(text, at, line) : bareWord(text, at, line)
      begun().words.push(word)
      at += word.text.length + (word.quoted ? 2 : 0)
    }
  }
  if (depth > 0) throw new ZoneFileFault(line, 'A closing parenthesis is missing')
  if (entry && entry.words.length > 0) yield entry
}

function quotedWord(text: string, from: number, line: number): ZoneWord {
  let at = from + 1
  while (text[at] !== '"') {
    if (at >= text.length || text[at] === '\n') throw new ZoneFileFault(line, 'A closing quote is missing')
    at += text[at] === '\\' ? 2 : 1
  }
  return { text: checked(text.slice(from + 1, at), line), quoted: true }
}

function bareWord(text: string, from: number, line: number): ZoneWord {
  let at = from
  while (at < text.length && !/[\s;()"]/.test(text[at] ?? '')) at += text[at] === '\\' ? 2 : 1
  return { text: checked(text.slice(from, at), line), quoted: false }
}

function checked(text: string, line: number): string {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) throw new ZoneFileFault(line, 'There is a control character')
  return text
}
