import type { CatalogueModel } from './catalogueModel.ts'
import type { CacheMark, InnerRequest, TextPart, Tool, Turn, UserTurn } from './innerForm.ts'
import { looseObject } from './looseJson.ts'
import { askedCache } from './reservationPlan.ts'
import { mostInputTokens } from './tokenEstimate.ts'

const maxMarkDepth = 16

/**
 * Finds the longest cache time that a body asks for anywhere in it. A body that passes through unchanged may carry marks
 * in places that its translation leaves out, and the provider bills them.
 */
export function cacheMarkIn(value: unknown, depth = 0): CacheMark | undefined {
  if (depth > maxMarkDepth || typeof value !== 'object' || value === null) return undefined
  let longest: CacheMark | undefined
  for (const [name, field] of Object.entries(value)) {
    const mark = name === 'cache_control' ? markOf(field) : cacheMarkIn(field, depth + 1)
    if (mark === '1h') return mark
    longest ??= mark
  }
  return longest
}

function markOf(control: unknown): CacheMark | undefined {
  const mark = looseObject(control)
  if (mark === undefined) return undefined
  return mark.ttl === '1h' ? '1h' : '5m'
}

/** Of texts, about so many bytes are a token. Where that is wrong, a provider keeps nothing and bills nothing for it. */
const bytesPerToken = 4
/** Each turn is read from where the one before ended, so that the last two are marked. */
const markedTurns = 2

/**
 * Asks the provider to keep the prompt, where it must be asked: behind tools and system, and behind the last turns. To
 * write costs a quarter more than to read and to read again a tenth, so that it is asked only for what will probably be
 * sent again: a conversation that goes on, or one with tools. Marks of the caller are all that counts where there are any.
 */
export function withCacheMarks(
  request: InnerRequest,
  { leastCachedTokens: least }: Pick<CatalogueModel, 'leastCachedTokens'>,
): InnerRequest {
  if (least === undefined || askedCache(request) !== undefined) return request
  const goesOn = request.tools.length > 0 || request.turns.some((turn) => turn.role === 'assistant')
  if (!goesOn || mostInputTokens(request) < least * bytesPerToken) return request
  const system = request.turns.findLastIndex((turn) => turn.role === 'system' && markedSystem(turn.parts) !== undefined)
  const users = request.turns.flatMap((turn, at) => (turn.role === 'user' ? [at] : [])).slice(-markedTurns)
  return {
    ...request,
    tools: system < 0 ? markedTools(request.tools) : request.tools,
    turns: request.turns.map((turn, at): Turn => {
      if (turn.role === 'system' && at === system) return { ...turn, parts: markedSystem(turn.parts) ?? turn.parts }
      return turn.role === 'user' && users.includes(at) ? { ...turn, parts: markedUser(turn.parts) } : turn
    }),
  }
}

function markedTools(tools: readonly Tool[]): Tool[] {
  return tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, cache: '5m' } : tool))
}

function markedSystem(parts: readonly TextPart[]): TextPart[] | undefined {
  const last = parts.findLastIndex(({ text }) => text.trim() !== '')
  return last < 0 ? undefined : parts.map((part, at) => (at === last ? { ...part, cache: '5m' } : part))
}

function markedUser(parts: UserTurn['parts']): UserTurn['parts'] {
  const last = parts.findLastIndex((part) => part.type !== 'file' && (part.type !== 'text' || part.text.trim() !== ''))
  return parts.map((part, at) => (at === last && part.type !== 'file' ? { ...part, cache: '5m' } : part))
}
