/**
 * Independent part of a Markdown text. While a text grows, only its last block changes, so all others are parsed,
 * rendered and highlighted once.
 */
export type Block =
  | { kind: 'code'; language: string; code: string; closed: boolean }
  | { kind: 'math'; tex: string; closed: boolean }
  /** The header with its line of dashes, and the rows in groups: a group that is full never changes again. */
  | { kind: 'table'; head: string; groups: readonly string[] }
  | { kind: 'text'; text: string }

export type Blocks = {
  blocks: readonly Block[]
  /** Link and footnote definitions, which count for the whole text. */
  definitions: string
}

/** In characters. A list is cut at its next item, anything else at the next line: no block gets slow to parse. */
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

/** Splits Markdown into blocks in one pass over its lines, whatever they contain. */
export function splitBlocks(text: string): Blocks {
  const blocks: Block[] = []
  const definitions: string[] = []
  let definitionsLength = 0
  let open: Open | undefined

  const close = (closed: boolean) => {
    if (open) blocks.push(toBlock(open, closed))
    open = undefined
  }
  const begin = (line: string): void => {
    if (line.trim() === '') return
    const code = parseFence(line)
    if (code) {
      open = { kind: 'code', ...code, lines: [] }
      return
    }
    const math = /^ {0,3}(\$\$|\\\[)(.*)$/.exec(line)
    if (math) {
      const [, start, rest = ''] = math
      const end = start === '$$' ? '$$' : '\\]'
      const ends = rest.trimEnd().endsWith(end)
      const tail = rest.trimEnd()
      if (ends && tail.length >= end.length) {
        blocks.push({ kind: 'math', tex: tail.slice(0, -end.length).trim(), closed: true })
        return
      }
      if (!rest.includes(end)) {
        open = { kind: 'math', end, lines: rest.trim() === '' ? [] : [rest] }
        return
      }
    }
    const isList = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line)
    open = { kind: 'text', lines: [line], length: line.length, isList, fence: nestedFence(line), blank: false }
  }

  for (const line of text.split('\n')) {
    if (!(open?.kind === 'code' || open?.kind === 'math') && isDefinition(line) && definitionsLength < maxDefinitions) {
      definitions.push(line)
      definitionsLength += line.length
    }
    if (!open) {
      begin(line)
      continue
    }
    switch (open.kind) {
      case 'code':
        if (closesFence(line, open.fence)) close(true)
        else open.lines.push(withoutIndent(line, open.indent))
        break
      case 'math': {
        const trimmed = line.trimEnd()
        if (trimmed.endsWith(open.end)) {
          const last = trimmed.slice(0, -open.end.length)
          if (last.trim() !== '') open.lines.push(last)
          close(true)
        } else open.lines.push(line)
        break
      }
      case 'table':
        if (line.includes('|') && !parseFence(line) && !/^ {0,3}>/.test(line)) open.rows.push(line)
        else {
          close(true)
          begin(line)
        }
        break
      case 'text': {
        const { lines } = open
        if (open.fence !== undefined) {
          // Within a list or a quotation: the parser sees to it, but no blank line in it ends the block.
          if (closesFence(line.replace(/^[\s>]+/, ''), open.fence)) open.fence = undefined
          lines.push(line)
          open.length += line.length + 1
          if (open.length > maxBlock) close(true)
          break
        }
        if (line.trim() === '') {
          open.blank = true
          if (open.isList) lines.push(line)
          else close(true)
          break
        }
        const last = lines.at(-1) ?? ''
        if (lines.length === 1 && isTableHead(last, line)) {
          open = { kind: 'table', head: `${last}\n${line}`, rows: [] }
          break
        }
        if (isTableHead(last, line) && !open.isList) {
          lines.pop()
          close(true)
          open = { kind: 'table', head: `${last}\n${line}`, rows: [] }
          break
        }
        if (/^ {0,3}(?:=+|-+)[ \t]*$/.test(line) && !open.isList && !open.blank) {
          lines.push(line) // it makes a heading of what is above it
          close(true)
          break
        }
        const startsItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line)
        const isContinued = startsItem || /^(?: {2,}|\t)/.test(line)
        const isOver =
          (open.isList && open.blank && !isContinued) ||
          (parseFence(line) !== undefined && !/^ {2,}/.test(line)) ||
          (!open.isList && /^ {0,3}(?:\$\$|\\\[|#{1,6}[ \t])/.test(line)) ||
          /^ {0,3}#{1,6}[ \t]/.test(last) ||
          (open.length > longBlock && open.isList && startsItem && /^\S/.test(line)) ||
          open.length > maxBlock
        if (isOver) {
          close(true)
          begin(line)
          break
        }
        lines.push(line)
        open.length += line.length + 1
        open.blank = false
        open.fence = nestedFence(line)
      }
    }
  }
  close(false)
  return { blocks, definitions: definitions.join('\n') }
}

function toBlock(open: Open, closed: boolean): Block {
  switch (open.kind) {
    case 'code':
      return { kind: 'code', language: open.language, code: open.lines.join('\n'), closed }
    case 'math':
      return { kind: 'math', tex: open.lines.join('\n').trim(), closed }
    case 'table':
      return { kind: 'table', head: open.head, groups: grouped(open.rows, countColumns(open.head)) }
    case 'text':
      return { kind: 'text', text: open.lines.join('\n').trimEnd() }
  }
}

function grouped(rows: readonly string[], columns: number): string[] {
  const size = Math.max(1, Math.min(rowsOfGroup, Math.floor(cellsOfGroup / columns)))
  const groups: string[] = []
  for (let at = 0; at < rows.length; at += size) groups.push(rows.slice(at, at + size).join('\n'))
  return groups
}

/** By the dashes of the line below the header. */
function countColumns(head: string): number {
  return Math.max(1, head.slice(head.indexOf('\n')).match(/-+/g)?.length ?? 0)
}

/** The first line of a block of code: its fence, what stands before it, and the language. */
function parseFence(line: string): { fence: string; indent: number; language: string } | undefined {
  const match = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line)
  if (!match) return undefined
  const [, indent = '', fence = '', info = ''] = match
  if (fence.startsWith('`') && info.includes('`')) return undefined // code in a line of text
  return { fence, indent: indent.length, language: info.trim().split(/[\s{,:]/, 1)[0] ?? '' }
}

/** A fence that opens within the line's list or quotation. */
function nestedFence(line: string): string | undefined {
  const inside = line.replace(/^(?:\s|>|[-*+]\s|\d{1,9}[.)]\s)+/, '')
  return inside === line ? undefined : parseFence(inside)?.fence
}

function closesFence(line: string, fence: string): boolean {
  const trimmed = line.trim()
  if (trimmed.length < fence.length || !trimmed.startsWith(fence)) return false
  const [mark] = fence
  for (const character of trimmed) if (character !== mark) return false
  return /^ {0,3}\S/.test(line)
}

function withoutIndent(line: string, indent: number): string {
  let at = 0
  while (at < indent && line[at] === ' ') at++
  return line.slice(at)
}

/** `head` and `dashes` are the first lines of a table. */
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
