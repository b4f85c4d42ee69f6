import type { IBufferLine, Terminal } from '@xterm/xterm'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'

/** Timeout for a reattached terminal to receive its output. */
const timeoutMs = 8_000

/**
 * Scrolls to a match and selects it. Rows move while output arrives, so the nearest row with the same text is used.
 * @returns a function that cancels the scroll
 */
export function revealMatch(terminal: Terminal, match: TerminalMatch): () => void {
  const waiting = terminal.onWriteParsed(() => void (show(terminal, match) && end()))
  const patience = setTimeout(end, timeoutMs)
  function end(): void {
    clearTimeout(patience)
    waiting.dispose()
  }
  if (show(terminal, match)) end()
  return end
}

function show(terminal: Terminal, { row, text, start, end }: TerminalMatch): boolean {
  const buffer = terminal.buffer.active
  const matchText = text.slice(start, end)
  const at = findNearest(buffer.length, row, (y) => {
    const lineText = buffer.getLine(y)?.translateToString(true) ?? ''
    return lineText.includes(matchText) && (text.includes(lineText.trim()) || lineText.includes(text))
  })
  const line = at === undefined ? undefined : buffer.getLine(at)
  if (at === undefined || !line) return false
  const matchColumn = line.translateToString(true).indexOf(matchText)
  const column = findCell(line, matchColumn)
  terminal.scrollToLine(Math.max(0, at - Math.floor(terminal.rows / 2)))
  terminal.select(column, at, findCell(line, matchColumn + matchText.length) - column)
  return true
}

function findNearest(count: number, from: number, fits: (row: number) => boolean): number | undefined {
  for (let distance = 0; distance <= count; distance += 1) {
    for (const row of [from - distance, from + distance]) if (row >= 0 && row < count && fits(row)) return row
  }
  return undefined
}

/**
 * Returns the cell of a character. Wide characters occupy two cells, and a cell may contain several combining
 * characters.
 */
function findCell(line: IBufferLine, offset: number): number {
  let passed = 0
  for (let cell = 0; cell < line.length; cell += 1) {
    if (passed >= offset) return cell
    const it = line.getCell(cell)
    if (it && it.getWidth() > 0) passed += Math.max(1, it.getChars().length)
  }
  return line.length
}
