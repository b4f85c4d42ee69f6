import {
  type ExportFormat,
  type ImportedNode,
  idOf,
  type LooseObject,
  listOf,
  objectOf,
  textOf,
  timeOf,
} from './importedConversation.ts'

/** `conversations.json`: a list whose conversations have their messages in `mapping`, by id, each with its parent. */
export const chatGptExport: ExportFormat = {
  name: 'chatgpt',
  isConversation: (value) => objectOf(value.mapping) !== undefined,
  read(value) {
    const sourceId = idOf(value.conversation_id) ?? idOf(value.id)
    if (sourceId === undefined) throw new Error('It has no id.')
    const nodes = Object.entries(objectOf(value.mapping) ?? {}).flatMap(([id, it]) => nodeOf(id, objectOf(it)))
    return {
      sourceId,
      title: textOf(value.title),
      createdAtMs: timeOf(value.create_time),
      updatedAtMs: timeOf(value.update_time),
      systemPrompt: '',
      nodes,
      leafId: idOf(value.current_node),
    }
  },
}

function nodeOf(id: string, node: LooseObject | undefined): ImportedNode[] {
  if (!node) return []
  const message = objectOf(node.message)
  const content = objectOf(message?.content) ?? {}
  const metadata = objectOf(message?.metadata) ?? {}
  const role = objectOf(message?.author)?.role
  const isSaid = (role === 'user' || role === 'assistant') && metadata.is_visually_hidden_from_conversation !== true
  // What the assistant says to its tools is no answer.
  const recipient = message?.recipient ?? 'all'
  const text = contentText(content)
  const shown = isSaid && recipient === 'all' && text !== '' && content.content_type !== 'thoughts'
  return [
    {
      id,
      parentId: idOf(node.parent),
      role: shown ? role : 'hidden',
      text: shown ? text : '',
      reasoning: content.content_type === 'thoughts' ? thoughts(content) : '',
      model: idOf(metadata.model_slug),
      atMs: timeOf(message?.create_time),
    },
  ]
}

function contentText(content: LooseObject): string {
  switch (content.content_type) {
    case 'code':
      return fenced(textOf(content.text), textOf(content.language))
    case 'text':
    case 'multimodal_text':
      return listOf(content.parts).map(partText).filter(Boolean).join('\n\n').trim()
    default:
      return ''
  }
}

/** Pictures and files are not in the file: what is known of them is said. */
function partText(part: unknown): string {
  if (typeof part === 'string') return textOf(part)
  const { content_type: type, text } = objectOf(part) ?? {}
  if (type === 'image_asset_pointer') return '[image]'
  if (type === 'audio_transcription') return textOf(text)
  return ''
}

function thoughts(content: LooseObject): string {
  return listOf(content.thoughts)
    .map((it) => textOf(objectOf(it)?.content) || textOf(objectOf(it)?.summary))
    .filter(Boolean)
    .join('\n\n')
}

function fenced(text: string, language: string): string {
  if (text.trim() === '') return ''
  return `\`\`\`${/^[\w+-]{1,30}$/.test(language) && language !== 'unknown' ? language : ''}\n${text}\n\`\`\``
}
