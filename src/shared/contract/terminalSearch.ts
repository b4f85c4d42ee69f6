import { z } from 'zod'
import { SandboxId, TerminalId } from '../ids.ts'
import { defineRoute, QueryFlag } from './route.ts'

/** Limits of terminal searches, in characters and matches. */
export const searchLimits = { queryLength: 500, matches: { default: 200, max: 2000 }, textLength: 400 } as const

/** Match in the screen or scrollback of a terminal. For a wrapped line, `text` is the whole line. */
export const TerminalMatch = z.object({
  sandbox_id: SandboxId,
  session_id: TerminalId,
  /**
   * First row of the match, counted from the oldest stored row, starting with 0. Decreases as older rows are dropped.
   */
  row: z.int(),
  /** Line of the match. A very long line is reduced to the part around the match. */
  text: z.string(),
  /** The match is `text.slice(start, end)`. */
  start: z.int(),
  end: z.int(),
})
export type TerminalMatch = z.infer<typeof TerminalMatch>

const { matches } = searchLimits
const limitMessage = `must be a whole number from 1 to ${matches.max}`

export const searchTerminals = defineRoute({
  operation: 'terminalSearch',
  method: 'GET',
  path: '/v1/terminals/search',
  summary: 'Search the screen and scrollback of all terminals',
  description:
    'Searches running and exited terminals of the account for up to 10 seconds. Groups matches by terminal, from the oldest row to the newest. Fails with 400 `request/invalid` if the expression is invalid or too slow.',
  tag: 'Terminals',
  query: z.object({
    q: z
      .string()
      .min(1, 'must not be empty')
      .max(searchLimits.queryLength, `must have at most ${searchLimits.queryLength} characters`),
    /** Whether `q` is a JavaScript regular expression. */
    regex: QueryFlag.default(false),
    case_sensitive: QueryFlag.default(false),
    limit: z.coerce
      .number(limitMessage)
      .int(limitMessage)
      .min(1, limitMessage)
      .max(matches.max, limitMessage)
      .default(matches.default),
  }),
  response: z.object({
    /** Grouped by terminal, from the oldest row to the newest. If a terminal has too many, only the newest. */
    matches: z.array(TerminalMatch),
    /**
     * Whether results are incomplete: there are more matches than `limit`, or terminals that were not searched in time.
     */
    truncated: z.boolean(),
    searched: z.int(),
  }),
})
