import { isUtf8 } from 'node:buffer'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import type { ImportFormat } from '#shared/contract/chatLibrary.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import { chatGptExport } from './chatGptExport.ts'
import { claudeExport } from './claudeExport.ts'
import {
  type ExportFormat,
  type ImportedConversation,
  toObject,
  toObjects,
  toText,
  type UnknownRecord,
} from './importedConversation.ts'
import { libreChatExport } from './libreChatExport.ts'
import { openWebUiExport } from './openWebUiExport.ts'

export type ReadExport = {
  format: ImportFormat
  /** Conversations, parsed lazily, each with its content or the reason why it cannot be imported. */
  conversations: Iterable<{ title: string; conversation: ImportedConversation } | { title: string; reason: string }>
  total: number
}

const formats: readonly ExportFormat[] = [chatGptExport, claudeExport, openWebUiExport, libreChatExport]

/** @throws AppError `chat/import` if the file is not an export of a supported program */
export function parseExport(bytes: Buffer): ReadExport {
  const content = parseBytes(bytes)
  const items = Array.isArray(content) ? content : (toObject(content)?.conversations ?? [content])
  const objects = toObjects(items)
  const format = formats.find((exportFormat) => objects.some((object) => exportFormat.isConversation(object)))
  if (!format) {
    throw new AppError('chat/import', 'The file is JSON, but not a supported export of conversations.')
  }
  return { format: format.name, total: objects.length, conversations: readConversations(format, objects) }
}

function* readConversations(
  format: ExportFormat,
  objects: readonly UnknownRecord[],
): Generator<{ title: string; conversation: ImportedConversation } | { title: string; reason: string }> {
  for (const [index, object] of objects.entries()) {
    const title = toText(object.title) || toText(object.name) || `Conversation ${index + 1}`
    try {
      if (!format.isConversation(object)) yield { title, reason: 'The entry is not a conversation.' }
      else yield { title, conversation: format.read(object) }
    } catch (error) {
      yield { title, reason: error instanceof Error ? error.message : 'The conversation cannot be read.' }
    }
  }
}

/** A file with only brackets would need many times its size in memory. Real texts contain fewer values. */
const maxValues = 12_000_000

function hasTooManyValues(bytes: Buffer): boolean {
  let values = 0
  for (const byte of bytes) if (byte === comma || byte === bracket || byte === brace) values += 1
  return values > maxValues
}

/** High, because one format nests each message in the previous one. Readers of these files are not recursive. */
const maxDepth = 200_000

const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b]

function parseBytes(bytes: Buffer): unknown {
  const wrong = (message: string, cause?: unknown) => new AppError('chat/import', message, { cause })
  if (bytes.length === 0) throw wrong('The file is empty.')
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') {
    throw wrong('The file is a ZIP archive. Unpack it and choose its `conversations.json`.')
  }
  if (!isUtf8(bytes)) throw wrong('The file is not JSON: it is not UTF-8 text.')
  if (hasTooManyValues(bytes)) throw wrong('The file is too large for an export of conversations.')
  try {
    return parseJson(bytes.toString('utf8').replace(/^\uFEFF/, ''), { maxBytes: chatLimits.importBytes, maxDepth })
  } catch (cause) {
    throw wrong('The file is not valid JSON, or its download is incomplete.', cause)
  }
}
