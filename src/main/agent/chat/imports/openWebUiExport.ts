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

/**
 * List of elements with `chat.history.messages`, by id, each with its parent. Older exports have `chat.messages` only.
 */
export const openWebUiExport: ExportFormat = {
  name: 'open-webui',
  isConversation({ chat }) {
    const chatObject = toObject(chat)
    return toObject(toObject(chatObject?.history)?.messages) !== undefined || Array.isArray(chatObject?.messages)
  },
  read(value) {
    const chat = toObject(value.chat) ?? {}
    const sourceId = toId(value.id) ?? toId(chat.id)
    if (sourceId === undefined) throw new Error('The conversation has no id.')
    const history = toObject(chat.history)
    const byId = toObject(history?.messages)
    const nodes = byId
      ? Object.entries(byId).flatMap(([id, node]) => toNode(toObject(node), { id, parentId: undefined }))
      : chainMessages(toList(chat.messages))
    return {
      sourceId,
      title: toText(value.title) || toText(chat.title),
      createdAtMs: toTime(value.created_at) ?? toTime(chat.timestamp),
      updatedAtMs: toTime(value.updated_at),
      systemPrompt: toText(toObject(chat.params)?.system) || toText(chat.system),
      nodes,
      leafId: toId(history?.currentId) ?? nodes.at(-1)?.id,
    }
  },
}

function chainMessages(messages: readonly unknown[]): ImportedNode[] {
  const nodes: ImportedNode[] = []
  for (const [index, message] of messages.entries()) {
    nodes.push(...toNode(toObject(message), { id: `message ${index}`, parentId: nodes.at(-1)?.id }))
  }
  return nodes
}

function toNode(
  message: UnknownRecord | undefined,
  { id, parentId }: { id: string; parentId: string | undefined },
): ImportedNode[] {
  if (!message) return []
  const isSaid = message.role === 'user' || message.role === 'assistant'
  const content = toText(message.content) || toList(message.content).map(readPart).filter(Boolean).join('\n\n')
  const { text, reasoning } = splitDetails(content)
  return [
    {
      id: toId(message.id) ?? id,
      parentId: toId(message.parentId) ?? parentId,
      role: isSaid && text !== '' ? (message.role as 'user' | 'assistant') : 'hidden',
      text,
      reasoning,
      model: message.role === 'assistant' ? toId(message.model) : undefined,
      atMs: toTime(message.timestamp),
    },
  ]
}

function readPart(part: unknown): string {
  const { type, text } = toObject(part) ?? {}
  if (type === 'text') return toText(text)
  return type === 'image_url' ? '[image]' : ''
}

const opening = '<details type="'
const closing = '</details>'

/** Splits the text, in which reasoning and tool calls are embedded as collapsed sections. */
function splitDetails(content: string): { text: string; reasoning: string } {
  const parts: string[] = []
  const reasoning: string[] = []
  let offset = 0
  for (;;) {
    const begin = content.indexOf(opening, offset)
    const end = begin < 0 ? -1 : content.indexOf(closing, begin)
    if (end < 0) break
    parts.push(content.slice(offset, begin))
    const folded = content.slice(begin, end)
    if (folded.startsWith(`${opening}reasoning"`)) reasoning.push(unfoldDetails(folded))
    offset = end + closing.length
  }
  parts.push(content.slice(offset))
  return { text: parts.join('').trim(), reasoning: reasoning.join('\n\n') }
}

/** Extracts the text of a collapsed section, which is quoted and contains entities. */
function unfoldDetails(details: string): string {
  const summaryEnd = details.indexOf('</summary>')
  const body =
    summaryEnd < 0 ? details.slice(details.indexOf('>') + 1) : details.slice(summaryEnd + '</summary>'.length)
  return body
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/^> ?/gm, '')
    .trim()
}
