import { createContext, runInContext } from 'node:vm'
import type { IBuffer } from '@xterm/headless'
import { searchLimits } from '../../../shared/contract/terminalSearch.ts'
import { type LogicalLine, logicalLines } from './screenText.ts'
import { type SearchQuery, searchExpression } from './searchExpression.ts'

/** `row` counts from the oldest row of the buffer; the match is `text.slice(start, end)`. */
export type LineMatch = { row: number; text: string; start: number; end: number }
/** `slow`: the expression took too long, and what it would have found is not known. */
export type ScreenMatches = { matches: LineMatch[]; truncated: boolean; slow: boolean }

/** Of the processor's time, for matching alone: other terminals of the worker wait that long, whatever the expression does. */
const matchMs = 250
/** Of a long line this much before the match is shown. */
const shownBefore = 80

/** Finds the newest matches, and gives them from the oldest to the newest. */
export function searchScreen(buffer: IBuffer, query: SearchQuery): ScreenMatches {
  const lines = [...logicalLines(buffer)]
  let matches: LineMatch[] = []
  let truncated = false
  const search = (): void => {
    matches = []
    truncated = false
    const expression = searchExpression(query)
    for (let index = lines.length - 1; index >= 0 && !truncated; index -= 1) {
      const line = lines[index]
      if (!line) continue
      const found = matchesOf(line, expression)
      const room = query.limit - matches.length
      truncated = found.length > room
      if (room > 0) matches.push(...found.slice(-room).reverse())
    }
  }
  const slow = !endsWithin(matchMs, search)
  return { matches: matches.reverse(), truncated, slow }
}

function matchesOf(line: LogicalLine, expression: RegExp): LineMatch[] {
  const found: LineMatch[] = []
  for (const { index, 0: matched } of line.text.matchAll(expression)) {
    if (matched === '') continue
    const from = line.text.length <= searchLimits.textLength ? 0 : Math.max(0, index - shownBefore)
    const text = line.text.slice(from, from + searchLimits.textLength)
    const end = Math.min(index + matched.length - from, text.length)
    found.push({ row: line.rowAt(index), text, start: index - from, end })
  }
  return found
}

/**
 * JavaScript gives an expression no limit of its own; only an interrupted script leaves one that backtracks for ever. That
 * limit is by the clock: work that had to wait for the processor instead begins again.
 */
function endsWithin(ms: number, work: () => void): boolean {
  const begun = process.threadCpuUsage()
  for (let leftMs = ms; leftMs > 0; ) {
    if (endsByTheClock(Math.ceil(leftMs), work)) return true
    const { user, system } = process.threadCpuUsage(begun)
    leftMs = ms - (user + system) / 1000
  }
  return false
}

function endsByTheClock(ms: number, work: () => void): boolean {
  try {
    runInContext('work()', createContext({ work }), { timeout: ms })
    return true
  } catch (failure) {
    // The error is of the script's own world, where `Error` is another one.
    if (Object(failure).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw failure
  }
}
