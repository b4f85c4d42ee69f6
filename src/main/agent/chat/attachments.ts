import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type BytesResponse, createBytesAnswer } from '#platform/http/answers.ts'
import { readBytes } from '#platform/parsing/boundedBytes.ts'
import { AppError } from '#shared/appError.ts'
import type { Attachment } from '#shared/contract/chatLibrary.ts'
import { type AttachmentId, chatLimits } from '#shared/contract/chats.ts'
import { toWireAttachment } from './attachmentRepository.ts'
import type { ChatStore } from './chatStore.ts'
import { estimateTokens, imageTokens } from './estimateTokens.ts'
import { requireAttachment } from './messageDefaults.ts'

type Dependencies = { store: ChatStore; newId: () => string; now: () => number }

export type Attachments = {
  /** @throws AppError `chat/attachment` for unsupported file types, `chat/attachment-too-large` */
  add(name: string, pieces: AsyncIterable<Uint8Array>): Promise<Attachment>
  /** @throws AppError `chat/attachment-not-found` */
  content(id: string): BytesResponse
}

export function createAttachments({ store, newId, now }: Dependencies): Attachments {
  return {
    async add(name, pieces) {
      const maxBytes = chatLimits.imageBytes
      const bytes = await readBytes(pieces, { maxBytes, tooLarge: () => createTooLargeError('The file', maxBytes) })
      const mediaType = detectImageType(bytes)
      if (mediaType === undefined) checkText(bytes)
      const stored = {
        id: `att_${newId()}` as AttachmentId,
        hash: createHash('sha256').update(bytes).digest('hex'),
        name: cleanName(name),
        kind: mediaType === undefined ? ('text' as const) : ('image' as const),
        media_type: mediaType ?? 'text/plain',
        size: bytes.length,
        tokens: mediaType === undefined ? Math.ceil(estimateTokens(bytes.toString('utf8'))) : imageTokens.expected,
        createdAtMs: now(),
      }
      store.attachments.add(stored, bytes)
      return toWireAttachment(stored)
    },
    content(id) {
      const { hash, kind, media_type, name } = requireAttachment(store, id)
      const isImage = kind === 'image'
      const disposition = `${isImage ? 'inline' : 'attachment'}; filename*=UTF-8''${toHeaderName(name)}`
      return createBytesAnswer({
        headers: {
          'content-type': isImage ? media_type : 'application/octet-stream',
          'content-disposition': disposition,
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'same-origin',
          'cache-control': 'private, max-age=31536000, immutable',
        },
        body: store.attachments.bytes(hash) ?? Buffer.alloc(0),
      })
    },
  }
}

/** Detects the image type by the first bytes. SVG is excluded because it may contain scripts. */
export function detectImageType(bytes: Buffer): string | undefined {
  const begins = (...values: number[]) => values.every((value, index) => bytes[index] === value)
  const ascii = (from: number, to: number) => bytes.subarray(from, to).toString('latin1')
  if (begins(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png'
  if (begins(0xff, 0xd8, 0xff)) return 'image/jpeg'
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return 'image/gif'
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

function checkText(bytes: Buffer): void {
  if (bytes.length === 0) throw new AppError('chat/attachment', 'The file is empty.')
  // A PDF may be plain ASCII, but models cannot read its source as text.
  if (bytes.includes(0) || !isUtf8(bytes) || bytes.subarray(0, 1_024).includes('%PDF-')) {
    throw new AppError('chat/attachment', 'Only images and text files can be attached.')
  }
  if (bytes.length > chatLimits.textBytes) throw createTooLargeError('The text file', chatLimits.textBytes)
}

function createTooLargeError(subject: string, max: number): AppError {
  return new AppError('chat/attachment-too-large', `${subject} is larger than ${max / 1024 ** 2} MB.`)
}

/** @see https://www.rfc-editor.org/rfc/rfc8187#section-3.2.1 */
export function toHeaderName(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function cleanName(name: string): string {
  const last =
    name
      .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
      .split(/[/\\]/)
      .at(-1) ?? ''
  return last.trim() === '' ? 'file' : last.trim()
}
