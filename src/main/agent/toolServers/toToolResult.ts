import { z } from 'zod'
import type { ToolResult } from '#shared/contract/tools/tool.ts'
import { sanitizeBlock } from '#shared/untrustedText.ts'

/** Maximum stored length. Chats truncate further. */
const maxCharacters = 200_000
const maxBlocks = 200

const Block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), mimeType: z.string().catch(''), data: z.string().catch('') }),
  z.looseObject({ type: z.literal('audio'), mimeType: z.string().catch(''), data: z.string().catch('') }),
  z.looseObject({ type: z.literal('resource_link'), uri: z.string(), name: z.string().catch('') }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.looseObject({ uri: z.string().catch(''), text: z.string().optional() }),
  }),
])

export const ToolResponse = z.looseObject({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().catch(false),
})
export type ToolResponse = z.infer<typeof ToolResponse>

/** Converts the result of an external tool to text. Links are not followed. */
export function toToolResult(server: string, { content, structuredContent }: ToolResponse): ToolResult {
  const texts = content.slice(0, maxBlocks).map((block) => toText(Block.safeParse(block).data))
  const text = texts.join('\n')
  const structured = text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent, null, 2) : text
  return { server, text: sanitizeBlock(structured, maxCharacters) }
}

function toText(block: z.infer<typeof Block> | undefined): string {
  switch (block?.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${sanitizeBlock(block.mimeType, 60)}, ${Math.round((block.data.length * 3) / 4)} bytes, omitted]`
    case 'resource_link':
      return `[link ${sanitizeBlock(block.uri, 500)}]`
    case 'resource':
      return block.resource.text ?? `[resource ${sanitizeBlock(block.resource.uri, 500)}, omitted]`
    case undefined:
      return '[content of an unknown type, omitted]'
  }
}
