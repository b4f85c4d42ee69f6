import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError } from '#shared/appError.ts'
import { JsonError, parseJson } from '../parsing/boundedJson.ts'

export const noBytes: Buffer = Buffer.alloc(0)

type BodyOptions = { maxBytes: number; mediaType?: string }

/**
 * Reads a whole body. Ignores the content type of an empty body, because some clients send a form type with every POST.
 * @returns an empty buffer if there is no body
 * @throws AppError `request/media-type`, `request/too-large`; an error of the connection if the client has disconnected
 */
export async function readBody(request: IncomingMessage, { maxBytes, mediaType }: BodyOptions): Promise<Buffer> {
  const { headers } = request
  if (!hasBody(headers)) return noBytes
  if (mediaType !== undefined) assertMediaType(headers, mediaType)
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw createTooLargeError()
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    const take = (piece: Buffer): void => {
      bytes += piece.length
      if (bytes <= maxBytes) pieces.push(piece)
      else settle(() => reject(createTooLargeError()))
    }
    const end = (): void => settle(() => resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)))
    const onDisconnect = (): void =>
      settle(() => reject(new Error('The client disconnected before sending the whole body.')))
    const settle = (tell: () => void): void => {
      request.off('data', take).off('end', end).off('close', onDisconnect).off('error', onDisconnect)
      tell()
    }
    request.on('data', take).on('end', end).on('close', onDisconnect).on('error', onDisconnect)
  })
}

/**
 * Yields the chunks of a body without buffering it.
 * @throws AppError `request/too-large` at the chunk beyond the limit
 */
export async function* readBodyChunks(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const tooMuch = () => new AppError('request/too-large', `The body has more than ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooMuch()
  let bytes = 0
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooMuch()
    yield piece
  }
}

export async function* createEmptyPieces(): AsyncGenerator<Uint8Array> {}

/**
 * @returns undefined for an empty body
 * @throws AppError `request/malformed`, including for JSON that is nested too deeply
 */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new AppError('request/malformed', 'The body is not valid UTF-8.')
  try {
    return parseJson(bytes.toString('utf8'), { maxBytes: bytes.length })
  } catch (cause) {
    throw cause instanceof JsonError ? createNotJsonError(cause) : cause
  }
}

/** @throws AppError `request/media-type` for a body of another type */
export function assertMediaType(headers: IncomingHttpHeaders, mediaType: string): void {
  if (!hasBody(headers)) return
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== mediaType) {
    throw new AppError('request/media-type', `The body must be \`${mediaType}\`.`)
  }
}

function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || (length !== undefined && Number(length) !== 0)
}

function createNotJsonError(cause: JsonError): AppError {
  return new AppError('request/malformed', `The body ${cause.predicate}.`, { cause })
}

function createTooLargeError(): AppError {
  return new AppError('request/too-large', 'The body is too large for this path.')
}
