import type { CacheMark, CanonicalRequest, TextPart, Tool, Turn, UserTurn } from './canonical.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import { toJsonObject } from './json.ts'
import { findRequestedTtl } from './reservationPlan.ts'
import { getMaxInputTokens } from './tokenEstimate.ts'

const maxMarkDepth = 16

/**
 * Finds the longest cache time that a body asks for anywhere in it. A body that passes through unchanged may carry marks
 * in places that its translation leaves out, and the provider bills them.
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

/** Average bytes per token of text. If it is wrong, a provider caches and bills nothing. */
const bytesPerToken = 4
/** Each turn is read from where the one before ended, so that the last two are marked. */
const markedTurns = 2

/**
 * Asks the provider to keep the prompt, where it must be asked: behind tools and system, and behind the last turns. To
 * write costs a quarter more than to read and to read again a tenth, so that it is asked only for what will probably be
 * sent again: a conversation that goes on, or one with tools. Marks of the caller are all that counts where there are any.
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
