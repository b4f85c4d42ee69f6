import { createContext, runInContext } from 'node:vm'
import type { IBuffer } from '@xterm/headless'
import { searchLimits } from '#shared/contract/terminalSearch.ts'
import { parseSearchExpression, type SearchQuery } from './parseSearchExpression.ts'
import { type LogicalLine, readLogicalLines } from './screenText.ts'

/** `row` is relative to the oldest row of the buffer. The match is `text.slice(start, end)`. */
export type LineMatch = { row: number; text: string; start: number; end: number }
/** `slow`: matching timed out, so matches may be missing. */
export type ScreenMatches = { matches: LineMatch[]; truncated: boolean; slow: boolean }

/** CPU time limit for matching, in milliseconds. Other terminals of the worker are blocked in the meantime. */
const matchMs = 250
/** Characters shown before a match in a long line. */
const contextCharacters = 80

/** Finds the newest matches. Returns them oldest first. */
export function searchScreen(buffer: IBuffer, query: SearchQuery): ScreenMatches {
  const lines = [...readLogicalLines(buffer)]
  let matches: LineMatch[] = []
  let truncated = false
  const search = (): void => {
    matches = []
    truncated = false
    const expression = parseSearchExpression(query)
    for (let index = lines.length - 1; index >= 0 && !truncated; index -= 1) {
      const line = lines[index]
      if (!line) continue
      const lineMatches = findMatches(line, expression)
      const remaining = query.limit - matches.length
      truncated = lineMatches.length > remaining
      if (remaining > 0) matches.push(...lineMatches.slice(-remaining).reverse())
    }
  }
  const slow = !isDoneWithin(matchMs, search)
  return { matches: matches.reverse(), truncated, slow }
}

function findMatches(line: LogicalLine, expression: RegExp): LineMatch[] {
  const matches: LineMatch[] = []
  for (const { index, 0: matched } of line.text.matchAll(expression)) {
    if (matched === '') continue
    const from = line.text.length <= searchLimits.textLength ? 0 : Math.max(0, index - contextCharacters)
    const text = line.text.slice(from, from + searchLimits.textLength)
    const end = Math.min(index + matched.length - from, text.length)
    matches.push({ row: line.rowAt(index), text, start: index - from, end })
  }
  return matches
}

/**
 * Runs `work` with a CPU time limit. Regular expressions have no time limit, and endless backtracking can only be
 * interrupted through the timeout of a script, which is wall-clock time. Work that was preempted therefore restarts
 * with the remaining CPU time.
 */
function isDoneWithin(ms: number, work: () => void): boolean {
  const begun = process.threadCpuUsage()
  for (let remainingMs = ms; remainingMs > 0; ) {
    if (isDoneByClock(Math.ceil(remainingMs), work)) return true
    const { user, system } = process.threadCpuUsage(begun)
    remainingMs = ms - (user + system) / 1000
  }
  return false
}

function isDoneByClock(ms: number, work: () => void): boolean {
  try {
    runInContext('work()', createContext({ work }), { timeout: ms })
    return true
  } catch (error) {
    // The error belongs to the script's context, which has a separate `Error` class.
    if (Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}
