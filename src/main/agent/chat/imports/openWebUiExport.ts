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

/** A list whose elements have `chat.history.messages`, by id, each with its parent; older ones `chat.messages` alone. */
export const openWebUiExport: ExportFormat = {
  name: 'open-webui',
  isConversation({ chat }) {
    const given = objectOf(chat)
    return objectOf(objectOf(given?.history)?.messages) !== undefined || Array.isArray(given?.messages)
  },
  read(value) {
    const chat = objectOf(value.chat) ?? {}
    const sourceId = idOf(value.id) ?? idOf(chat.id)
    if (sourceId === undefined) throw new Error('It has no id.')
    const history = objectOf(chat.history)
    const byId = objectOf(history?.messages)
    const nodes = byId
      ? Object.entries(byId).flatMap(([id, it]) => nodeOf(objectOf(it), { id, parentId: undefined }))
      : inOrder(listOf(chat.messages))
    return {
      sourceId,
      title: textOf(value.title) || textOf(chat.title),
      createdAtMs: timeOf(value.created_at) ?? timeOf(chat.timestamp),
      updatedAtMs: timeOf(value.updated_at),
      systemPrompt: textOf(objectOf(chat.params)?.system) || textOf(chat.system),
      nodes,
      leafId: idOf(history?.currentId) ?? nodes.at(-1)?.id,
    }
  },
}

function inOrder(messages: readonly unknown[]): ImportedNode[] {
  const nodes: ImportedNode[] = []
  for (const [at, it] of messages.entries()) {
    nodes.push(...nodeOf(objectOf(it), { id: `message ${at}`, parentId: nodes.at(-1)?.id }))
  }
  return nodes
}

function nodeOf(
  message: LooseObject | undefined,
  { id, parentId }: { id: string; parentId: string | undefined },
): ImportedNode[] {
  if (!message) return []
  const isSaid = message.role === 'user' || message.role === 'assistant'
  const content = textOf(message.content) || listOf(message.content).map(partText).filter(Boolean).join('\n\n')
  const { text, reasoning } = withoutDetails(content)
  return [
    {
      id: idOf(message.id) ?? id,
      parentId: idOf(message.parentId) ?? parentId,
      role: isSaid && text !== '' ? (message.role as 'user' | 'assistant') : 'hidden',
      text,
      reasoning,
      model: message.role === 'assistant' ? idOf(message.model) : undefined,
      atMs: timeOf(message.timestamp),
    },
  ]
}

function partText(part: unknown): string {
  const { type, text } = objectOf(part) ?? {}
  if (type === 'text') return textOf(text)
  return type === 'image_url' ? '[image]' : ''
}

const opening = '<details type="'
const closing = '</details>'

/** Reasoning and calls of tools stand within the text, folded. */
function withoutDetails(content: string): { text: string; reasoning: string } {
  const kept: string[] = []
  const reasoning: string[] = []
  let at = 0
  for (;;) {
    const begin = content.indexOf(opening, at)
    const end = begin < 0 ? -1 : content.indexOf(closing, begin)
    if (end < 0) break
    kept.push(content.slice(at, begin))
    const folded = content.slice(begin, end)
    if (folded.startsWith(`${opening}reasoning"`)) reasoning.push(unfolded(folded))
    at = end + closing.length
  }
  kept.push(content.slice(at))
  return { text: kept.join('').trim(), reasoning: reasoning.join('\n\n') }
}

/** Quoted, and with entities. */
function unfolded(details: string): string {
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
