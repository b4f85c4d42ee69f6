import {
  type ExportFormat,
  type ImportedNode,
  toId,
  toList,
  toObject,
  toText,
  toTime,
  type UnknownRecord,
} from './importedConversation.ts'

/** `conversations.json`: a list of conversations with their messages in `mapping`, by id, each with its parent. */
export const chatGptExport: ExportFormat = {
  name: 'chatgpt',
  isConversation: (value) => toObject(value.mapping) !== undefined,
  read(value) {
    const sourceId = toId(value.conversation_id) ?? toId(value.id)
    if (sourceId === undefined) throw new Error('The conversation has no id.')
    const nodes = Object.entries(toObject(value.mapping) ?? {}).flatMap(([id, node]) => toNodes(id, toObject(node)))
    return {
      sourceId,
      title: toText(value.title),
      createdAtMs: toTime(value.create_time),
      updatedAtMs: toTime(value.update_time),
      systemPrompt: '',
      nodes,
      leafId: toId(value.current_node),
    }
  },
}

function toNodes(id: string, node: UnknownRecord | undefined): ImportedNode[] {
  if (!node) return []
  const message = toObject(node.message)
  const content = toObject(message?.content) ?? {}
  const metadata = toObject(message?.metadata) ?? {}
  const role = toObject(message?.author)?.role
  const isSaid = (role === 'user' || role === 'assistant') && metadata.is_visually_hidden_from_conversation !== true
  // Messages from the assistant to its tools are not assistant messages of the chat.
  const recipient = message?.recipient ?? 'all'
  const text = readContent(content)
  const isVisible = isSaid && recipient === 'all' && text !== '' && content.content_type !== 'thoughts'
  return [
    {
      id,
      parentId: toId(node.parent),
      role: isVisible ? role : 'hidden',
      text: isVisible ? text : '',
      reasoning: content.content_type === 'thoughts' ? readThoughts(content) : '',
      model: toId(metadata.model_slug),
      atMs: toTime(message?.create_time),
    },
  ]
}

function readContent(content: UnknownRecord): string {
  switch (content.content_type) {
    case 'code':
      return toFence(toText(content.text), toText(content.language))
    case 'text':
    case 'multimodal_text':
      return toList(content.parts).map(readPart).filter(Boolean).join('\n\n').trim()
    default:
      return ''
  }
}

/** Describes images and files, whose contents are missing from the export. */
function readPart(part: unknown): string {
  if (typeof part === 'string') return toText(part)
  const { content_type: type, text } = toObject(part) ?? {}
  if (type === 'image_asset_pointer') return '[image]'
  if (type === 'audio_transcription') return toText(text)
  return ''
}

function readThoughts(content: UnknownRecord): string {
  return toList(content.thoughts)
    .map((value) => toText(toObject(value)?.content) || toText(toObject(value)?.summary))
    .filter(Boolean)
    .join('\n\n')
}

function toFence(text: string, language: string): string {
  if (text.trim() === '') return ''
  return `\`\`\`${/^[\w+-]{1,30}$/.test(language) && language !== 'unknown' ? language : ''}\n${text}\n\`\`\``
}
