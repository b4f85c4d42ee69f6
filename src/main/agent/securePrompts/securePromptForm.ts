import type { IncomingMessage } from 'node:http'
import { AppError } from '#shared/appError.ts'
import type { SecurePromptForm } from './securePromptStep.ts'

/** Maximum size of a form. A Keystore V3 file is smaller than 2 KB. */
const maxBytes = 128 * 1024

/** Reads the fields of a form; for a file, its text. @throws AppError `request/too-large`, `request/malformed` */
export async function readSecurePromptForm(request: IncomingMessage): Promise<SecurePromptForm> {
  const body = await readBytes(request)
  const fields = await parseFields(body, request.headers['content-type'] ?? '').finally(() => body.fill(0))
  return (name) => fields.get(name) ?? ''
}

async function parseFields(body: Buffer<ArrayBuffer>, type: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  try {
    const formData = await new Response(body, { headers: { 'content-type': type } }).formData()
    const entries: [string, string | Blob][] = []
    formData.forEach((value, name) => void entries.push([name, value]))
    for (const [name, value] of entries) fields.set(name, typeof value === 'string' ? value : await value.text())
  } catch (cause) {
    throw createMalformedError(cause)
  }
  return fields
}

function createMalformedError(cause: unknown): AppError {
  return new AppError('request/malformed', 'The form could not be read.', { cause })
}

async function readBytes(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    const piece = Buffer.from(chunk)
    bytes += piece.length
    // Reads to the end, because browsers display no response before the whole body is sent.
    if (bytes <= maxBytes) chunks.push(piece)
  }
  if (bytes > maxBytes) throw new AppError('request/too-large', `This file has more than ${maxBytes / 1024} KB.`)
  const body = Buffer.concat(chunks)
  for (const piece of chunks) piece.fill(0)
  return body
}
