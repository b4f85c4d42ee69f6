import { findRequestedTtl } from '../billing/reservationPlan.ts'
import { getMaxInputTokens } from '../billing/tokenEstimate.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { toJsonObject } from '../json.ts'
import type { CacheMark, CanonicalRequest, TextPart, Tool, Turn, UserTurn } from './canonical.ts'

const maxMarkDepth = 16

/**
 * Finds the longest cache TTL requested anywhere in a body. A passthrough body may contain marks that its translation
 * omits, and the provider bills them.
 */
export function findCacheMark(value: unknown, depth = 0): CacheMark | undefined {
  if (depth > maxMarkDepth || typeof value !== 'object' || value === null) return undefined
  let maxTtl: CacheMark | undefined
  for (const [name, field] of Object.entries(value)) {
    const mark = name === 'cache_control' ? parseTtl(field) : findCacheMark(field, depth + 1)
    if (mark === '1h') return mark
    maxTtl ??= mark
  }
  return maxTtl
}

function parseTtl(control: unknown): CacheMark | undefined {
  const mark = toJsonObject(control)
  if (mark === undefined) return undefined
  return mark.ttl === '1h' ? '1h' : '5m'
}

/** Average bytes per token of text. If the estimate is wrong, the provider neither caches nor bills. */
const bytesPerToken = 4
/** Each turn reads the cache up to the end of the previous one, so the last two are marked. */
const markedTurns = 2

/**
 * Marks the prompt for providers that cache only on request: after tools and system, and after the last turns. Writing
 * to the cache costs a quarter more than uncached input, and reading costs a tenth, so only prompts that will probably
 * be repeated are marked: those with earlier assistant turns or tools. If the caller set marks, no others are added.
 */
export function withCacheMarks(
  request: CanonicalRequest,
  { minCachedTokens: minTokens }: Pick<CatalogueModel, 'minCachedTokens'>,
): CanonicalRequest {
  if (minTokens === undefined || findRequestedTtl(request) !== undefined) return request
  const goesOn = request.tools.length > 0 || request.turns.some((turn) => turn.role === 'assistant')
  if (!goesOn || getMaxInputTokens(request) < minTokens * bytesPerToken) return request
  const system = request.turns.findLastIndex((turn) => turn.role === 'system' && markSystem(turn.parts) !== undefined)
  const users = request.turns.flatMap((turn, index) => (turn.role === 'user' ? [index] : [])).slice(-markedTurns)
  return {
    ...request,
    tools: system < 0 ? markTools(request.tools) : request.tools,
    turns: request.turns.map((turn, index): Turn => {
      if (turn.role === 'system' && index === system) return { ...turn, parts: markSystem(turn.parts) ?? turn.parts }
      return turn.role === 'user' && users.includes(index) ? { ...turn, parts: markUser(turn.parts) } : turn
    }),
  }
}

function markTools(tools: readonly Tool[]): Tool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, cache: '5m' } : tool))
}

function markSystem(parts: readonly TextPart[]): TextPart[] | undefined {
  const last = parts.findLastIndex(({ text }) => text.trim() !== '')
  return last < 0 ? undefined : parts.map((part, index) => (index === last ? { ...part, cache: '5m' } : part))
}

function markUser(parts: UserTurn['parts']): UserTurn['parts'] {
  const last = parts.findLastIndex((part) => part.type !== 'file' && (part.type !== 'text' || part.text.trim() !== ''))
  return parts.map((part, index) => (index === last && part.type !== 'file' ? { ...part, cache: '5m' } : part))
}
