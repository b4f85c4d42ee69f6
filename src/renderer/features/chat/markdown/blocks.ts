/**
 * Independent part of a Markdown text. While a text grows, only its last block changes, so all others are parsed,
 * rendered and highlighted once.
 */
export type Block =
  | { kind: 'code'; language: string; code: string; closed: boolean }
  | { kind: 'math'; tex: string; closed: boolean }
  /** Header with its delimiter row, and the rows in groups. A full group never changes. */
  | { kind: 'table'; head: string; groups: readonly string[] }
  | { kind: 'text'; text: string }

export type Blocks = {
  blocks: readonly Block[]
  /** Link and footnote definitions, which apply to the entire text. */
  definitions: string
}

/**
 * Block lengths in characters. A list is split at its next item and other text at the next line, so that no block is
 * slow to parse.
 */
const longBlock = 4_000
const maxBlock = 6_000
const rowsOfGroup = 25
const cellsOfGroup = 500
const maxDefinitions = 8_000

type Open =
  | { kind: 'code'; fence: string; indent: number; language: string; lines: string[] }
  | { kind: 'math'; end: '$$' | '\\]'; lines: string[] }
  | { kind: 'table'; head: string; rows: string[] }
  | { kind: 'text'; lines: string[]; length: number; isList: boolean; fence: string | undefined; blank: boolean }

type OpenOf<Kind extends Open['kind']> = Extract<Open, { kind: Kind }>

type Splitter = { blocks: Block[]; open: Open | undefined }

/** Splits Markdown into blocks in a single pass over its lines. */
export function splitBlocks(text: string): Blocks {
  const splitter: Splitter = { blocks: [], open: undefined }
  const definitions: string[] = []
  let definitionsLength = 0
  for (const line of text.split('\n')) {
    const kind = splitter.open?.kind
    if (kind !== 'code' && kind !== 'math' && isDefinition(line) && definitionsLength < maxDefinitions) {
      definitions.push(line)
      definitionsLength += line.length
    }
    readLine(splitter, line)
  }
  closeBlock(splitter, false)
  return { blocks: splitter.blocks, definitions: definitions.join('\n') }
}

function readLine(splitter: Splitter, line: string): void {
  const { open } = splitter
  if (open?.kind === 'code') readCodeLine(splitter, open, line)
  else if (open?.kind === 'math') readMathLine(splitter, open, line)
  else if (open?.kind === 'table') readTableLine(splitter, open, line)
  else if (open?.kind === 'text') readTextLine(splitter, open, line)
  else openBlock(splitter, line)
}

function closeBlock(splitter: Splitter, closed: boolean): void {
  if (splitter.open) splitter.blocks.push(toBlock(splitter.open, closed))
  splitter.open = undefined
}

function openBlock(splitter: Splitter, line: string): void {
  if (line.trim() === '') return
  const code = parseFence(line)
  if (code) {
    splitter.open = { kind: 'code', ...code, lines: [] }
    return
  }
  const math = /^ {0,3}(\$\$|\\\[)(.*)$/.exec(line)
  if (math) {
    const [, start, rest = ''] = math
    const end = start === '$$' ? '$$' : '\\]'
    const ends = rest.trimEnd().endsWith(end)
    const tail = rest.trimEnd()
    if (ends && tail.length >= end.length) {
      splitter.blocks.push({ kind: 'math', tex: tail.slice(0, -end.length).trim(), closed: true })
      return
    }
    if (!rest.includes(end)) {
      splitter.open = { kind: 'math', end, lines: rest.trim() === '' ? [] : [rest] }
      return
    }
  }
  const fence = findNestedFence(line)
  splitter.open = { kind: 'text', lines: [line], length: line.length, isList: isItemStart(line), fence, blank: false }
}

function readCodeLine(splitter: Splitter, open: OpenOf<'code'>, line: string): void {
  if (isClosingFence(line, open.fence)) closeBlock(splitter, true)
  else open.lines.push(stripIndent(line, open.indent))
}

function readMathLine(splitter: Splitter, open: OpenOf<'math'>, line: string): void {
  const trimmed = line.trimEnd()
  if (!trimmed.endsWith(open.end)) {
    open.lines.push(line)
    return
  }
  const last = trimmed.slice(0, -open.end.length)
  if (last.trim() !== '') open.lines.push(last)
  closeBlock(splitter, true)
}

function readTableLine(splitter: Splitter, open: OpenOf<'table'>, line: string): void {
  if (line.includes('|') && !parseFence(line) && !/^ {0,3}>/.test(line)) {
    open.rows.push(line)
    return
  }
  closeBlock(splitter, true)
  openBlock(splitter, line)
}

function readTextLine(splitter: Splitter, open: OpenOf<'text'>, line: string): void {
  const { lines } = open
  if (open.fence !== undefined) {
    // A fence inside a list or quotation is handled by the parser, but a blank line within it does not end the block.
    if (isClosingFence(line.replace(/^[\s>]+/, ''), open.fence)) open.fence = undefined
    lines.push(line)
    open.length += line.length + 1
    if (open.length > maxBlock) closeBlock(splitter, true)
    return
  }
  if (line.trim() === '') {
    open.blank = true
    if (open.isList) lines.push(line)
    else closeBlock(splitter, true)
    return
  }
  const last = lines.at(-1) ?? ''
  if (isTableHead(last, line) && (lines.length === 1 || !open.isList)) {
    lines.pop()
    if (lines.length > 0) closeBlock(splitter, true)
    splitter.open = { kind: 'table', head: `${last}\n${line}`, rows: [] }
    return
  }
  if (/^ {0,3}(?:=+|-+)[ \t]*$/.test(line) && !open.isList && !open.blank) {
    lines.push(line) // setext underline, which makes the line above a heading
    closeBlock(splitter, true)
    return
  }
  if (isEndOfText(open, last, line)) {
    closeBlock(splitter, true)
    openBlock(splitter, line)
    return
  }
  lines.push(line)
  open.length += line.length + 1
  open.blank = false
  open.fence = findNestedFence(line)
}

/** Whether `line` starts a new block after a text block whose last line is `last`. */
function isEndOfText(open: OpenOf<'text'>, last: string, line: string): boolean {
  const isItem = isItemStart(line)
  const isContinued = isItem || /^(?: {2,}|\t)/.test(line)
  return (
    (open.isList && open.blank && !isContinued) ||
    (parseFence(line) !== undefined && !/^ {2,}/.test(line)) ||
    (!open.isList && /^ {0,3}(?:\$\$|\\\[|#{1,6}[ \t])/.test(line)) ||
    /^ {0,3}#{1,6}[ \t]/.test(last) ||
    (open.length > longBlock && open.isList && isItem && /^\S/.test(line)) ||
    open.length > maxBlock
  )
}

/** Whether the line starts a list item. */
function isItemStart(line: string): boolean {
  return /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line)
}

function toBlock(open: Open, closed: boolean): Block {
  switch (open.kind) {
    case 'code':
      return { kind: 'code', language: open.language, code: open.lines.join('\n'), closed }
    case 'math':
      return { kind: 'math', tex: open.lines.join('\n').trim(), closed }
    case 'table':
      return { kind: 'table', head: open.head, groups: groupRows(open.rows, countColumns(open.head)) }
    case 'text':
      return { kind: 'text', text: open.lines.join('\n').trimEnd() }
  }
}

function groupRows(rows: readonly string[], columns: number): string[] {
  const size = Math.max(1, Math.min(rowsOfGroup, Math.floor(cellsOfGroup / columns)))
  const groups: string[] = []
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size).join('\n'))
  return groups
}

/** Counts the columns of a table by its delimiter row. */
function countColumns(head: string): number {
  return Math.max(1, head.slice(head.indexOf('\n')).match(/-+/g)?.length ?? 0)
}

/** Parses the opening fence of a code block with its indentation and language. */
function parseFence(line: string): { fence: string; indent: number; language: string } | undefined {
  const match = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line)
  if (!match) return undefined
  const [, indent = '', fence = '', info = ''] = match
  if (fence.startsWith('`') && info.includes('`')) return undefined // inline code
  return { fence, indent: indent.length, language: info.trim().split(/[\s{,:]/, 1)[0] ?? '' }
}

/** Returns a fence that opens within the line's list or quotation. */
function findNestedFence(line: string): string | undefined {
  const inside = line.replace(/^(?:\s|>|[-*+]\s|\d{1,9}[.)]\s)+/, '')
  return inside === line ? undefined : parseFence(inside)?.fence
}

function isClosingFence(line: string, fence: string): boolean {
  const trimmed = line.trim()
  if (trimmed.length < fence.length || !trimmed.startsWith(fence)) return false
  const [mark] = fence
  for (const character of trimmed) if (character !== mark) return false
  return /^ {0,3}\S/.test(line)
}

function stripIndent(line: string, indent: number): string {
  let at = 0
  while (at < indent && line[at] === ' ') at++
  return line.slice(at)
}

/** Whether `head` and `dashes` are the first two lines of a table. */
function isTableHead(head: string, dashes: string): boolean {
  return (
    head.includes('|') &&
    dashes.includes('-') &&
    /[|:]/.test(dashes) &&
    /^[ \t|:-]+$/.test(dashes) &&
    !/^ {4}/.test(head)
  )
}

function isDefinition(line: string): boolean {
  return line.length < 2_000 && /^ {0,3}\[[^\]]{1,200}\]:\s*\S/.test(line)
}
