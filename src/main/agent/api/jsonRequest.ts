import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../shared/appError.ts'

/** @throws AppError `request/media-type`, `request/too-large`, `request/malformed` */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  return (await readJsonText(request, maxBytes)).value
}

/** With the text as it was sent. @throws AppError as `readJson` */
export async function readJsonText(
  request: IncomingMessage,
  maxBytes: number,
): Promise<{ text: string; value: unknown }> {
  const text = await readText(request, { maxBytes, type: /^application\/json\b/i, kind: 'JSON' })
  if (text === '') return { text, value: undefined }
  try {
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    throw malformed(cause)
  }
}

type Wanted = { maxBytes: number; type: RegExp; kind: string }

/** @throws AppError `request/media-type` unless there is no body, `request/too-large` */
export async function readText(request: IncomingMessage, { maxBytes, type, kind }: Wanted): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const piece = Buffer.from(chunk)
    bytes += piece.length
    if (bytes > maxBytes) throw new AppError('request/too-large', `The body has more than ${maxBytes} bytes.`)
    chunks.push(piece)
  }
  if (bytes > 0 && !type.test(request.headers['content-type'] ?? '')) {
    throw new AppError('request/media-type', `The body must be ${kind}.`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function malformed(cause: unknown): AppError {
  return new AppError('request/malformed', 'The body is not valid JSON.', { cause })
}
