import { z } from 'zod'
import { SandboxId, TerminalId } from '../ids.ts'
import { defineRoute, QueryFlag } from './route.ts'

/** Limits of searches in terminals, in characters and matches. */
export const searchLimits = { queryLength: 500, matches: { default: 200, max: 2000 }, textLength: 400 } as const

/** A place in what a terminal shows and keeps. Of a line that was wrapped into several rows, `text` is the whole line. */
export const TerminalMatch = z.object({
  sandbox_id: SandboxId,
  session_id: TerminalId,
  /** First row of the match, counted from the oldest stored row, from 0. Decreases as older rows are dropped. */
  row: z.int(),
  /** The line; of a very long one the part around the match. */
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
  summary: 'Search the screens and scrollback of all terminals',
  description:
    'Searches running and exited terminals of the account for up to 10 seconds. Orders matches by terminal, then from the oldest row to the newest. Fails with 400 `request/invalid` for an invalid or slow expression.',
  tag: 'Terminals',
  query: z.object({
    q: z
      .string()
      .min(1, 'must not be empty')
      .max(searchLimits.queryLength, `must have at most ${searchLimits.queryLength} characters`),
    /** `q` is a regular expression of JavaScript. */
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
    /** Terminal by terminal, from the oldest row to the newest; of too many in one terminal the newest. */
    matches: z.array(TerminalMatch),
    /** There is more than this: more matches than `limit`, or terminals that were not reached in time. */
    truncated: z.boolean(),
    /** Number of searched terminals. */
    searched: z.int(),
  }),
})
