import { createBadRequestError } from '../inferenceError.ts'
import type { CallPart, ToolResultPart, Turn, UserTurn } from './canonical.ts'

/**
 * Checks that every call of a history has a result before the next assistant turn, and every result a call. Providers
 * reject other histories with errors that do not name the id.
 * @throws InferenceError with the id
 */
export function checkCallResults(turns: readonly Turn[]): void {
  let open: CallPart[] = []
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'assistant') {
      rejectOpenCalls(open)
      open = turn.parts.filter((part) => part.type === 'call')
    } else if (turn.role === 'user') {
      for (const result of listResults(turn)) {
        const callIndex = open.findIndex((call) => call.id === result.callId)
        if (callIndex < 0) {
          const message = `The result for call ${JSON.stringify(result.callId)} has no matching call in the previous message.`
          throw createBadRequestError(`messages[${index}]`, message, 'unknown_call')
        }
        open.splice(callIndex, 1)
      }
    }
  }
  rejectOpenCalls(open)
}

function rejectOpenCalls([call]: CallPart[]): void {
  if (!call) return
  const message = `The call ${JSON.stringify(call.id)} of ${JSON.stringify(call.name)} has no result. Add it, or remove the call.`
  throw createBadRequestError('messages', message, 'missing_result')
}

export function listResults(turn: UserTurn): ToolResultPart[] {
  return turn.parts.filter((part) => part.type === 'result')
}

/** Merges consecutive turns of results into one turn, and adds the name of each call. */
export function mergeToolResults(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  const names = new Map<string, string>()
  for (const turn of turns) {
    const last = joined.at(-1)
    if (turn.role === 'assistant') {
      for (const part of turn.parts) if (part.type === 'call') names.set(part.id, part.name)
    }
    if (turn.role !== 'user') {
      joined.push(turn)
      continue
    }
    const parts = turn.parts.map((part) =>
      part.type === 'result' ? { ...part, name: names.get(part.callId) ?? part.name } : part,
    )
    const goesOn = last?.role === 'user' && isResults(last.parts) && isResults(parts)
    if (goesOn) last.parts.push(...parts)
    else joined.push({ role: 'user', parts })
  }
  return joined
}

function isResults(parts: UserTurn['parts']): boolean {
  return parts.length > 0 && parts.every((part) => part.type === 'result')
}
