import { isUtf8 } from 'node:buffer'
import { AppError } from '../../../shared/appError.ts'

/** @returns undefined for an empty body. @throws AppError `request/malformed` */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new AppError('request/malformed', 'The body is not valid UTF-8.')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    throw notJson(cause)
  }
}

function notJson(cause: unknown): AppError {
  const reason = cause instanceof SyntaxError ? cause.message.split('\n')[0] : undefined
  // V8 quotes a piece of the input in its message, which may hold a secret: only the position is told.
  const position = reason?.match(/at position \d+/)?.[0]
  return new AppError('request/malformed', `The body is not valid JSON${position ? ` (${position})` : ''}.`, { cause })
}
