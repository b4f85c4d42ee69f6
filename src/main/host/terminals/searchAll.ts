import { AppError } from '#shared/appError.ts'
import type { HostResult } from '#shared/contract/hostIpc.ts'
import { parseSearchExpression, type SearchQuery } from './emulator/parseSearchExpression.ts'
import type { LineMatch } from './emulator/screenSearch.ts'
import { divideFairly } from './fairShares.ts'
import type { TerminalSession } from './session/terminalSession.ts'

type SearchResult = HostResult<'terminal.search'>
type SessionMatches = { session: TerminalSession; matches: LineMatch[]; truncated: boolean }

/** Number of concurrent searches: one per worker, plus one queued for each. */
const searchConcurrency = 4
const deadlineMs = 10_000

/** Searches the screens of all terminals. Omits results after the deadline and above the limit. */
export async function searchAll(
  sessions: readonly TerminalSession[],
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  assertSearchQuery(query)
  const late = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])
  const results = new Map<TerminalSession, SessionMatches>()
  const waiting = [...sessions]

  const searchNext = async (): Promise<void> => {
    for (let session = waiting.shift(); session && !late.aborted; session = waiting.shift()) {
      const answer = await session.search(query).catch(() => undefined) // the screen was lost or could not be drawn
      if (answer?.slow) {
        waiting.length = 0 // a slow expression would block every worker, one terminal after the other
        throw createTooSlowError(query)
      }
      if (answer) results.set(session, { session, matches: answer.matches, truncated: answer.truncated })
    }
  }

  await Promise.race([Promise.all(Array.from({ length: searchConcurrency }, searchNext)), waitForAbort(late)])
  const inOrder = sessions.flatMap((session) => results.get(session) ?? [])
  const shares = divideFairly(
    inOrder.map(({ matches }) => matches.length),
    query.limit,
  )
  return {
    matches: inOrder.flatMap(({ session: { record }, matches }, index) =>
      selectNewest(matches, shares[index] ?? 0).map((match) => ({
        sandbox_id: record.sandboxId,
        session_id: record.id,
        ...match,
      })),
    ),
    truncated:
      inOrder.length < sessions.length ||
      inOrder.some(({ matches, truncated }, index) => truncated || matches.length > (shares[index] ?? 0)),
    searched: inOrder.length,
  }
}

function assertSearchQuery(query: SearchQuery): void {
  try {
    parseSearchExpression(query)
  } catch (cause) {
    throw createInvalidExpressionError(cause)
  }
}

function createInvalidExpressionError(cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message.replace(/^Invalid regular expression: /, '') : String(cause)
  return new AppError('request/invalid', `\`q\` must be a regular expression: ${why}.`, { cause })
}

function createTooSlowError({ text }: SearchQuery): AppError {
  return new AppError('request/invalid', `\`q\` takes too long to match. Simplify the expression ${text}.`)
}

function selectNewest<Item>(items: readonly Item[], count: number): readonly Item[] {
  return items.slice(items.length - count)
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
