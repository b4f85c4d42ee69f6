import {
  type ExportFormat,
  type ImportedNode,
  toId,
  toList,
  toObject,
  toObjects,
  toText,
  toTime,
  type UnknownRecord,
} from './importedConversation.ts'

/** `conversations.json`: a list of conversations with `chat_messages` of `human` and `assistant`, in order. */
export const claudeExport: ExportFormat = {
  name: 'claude',
  isConversation: (value) => Array.isArray(value.chat_messages),
  read(value) {
    const sourceId = toId(value.uuid)
    if (sourceId === undefined) throw new Error('The conversation has no id.')
    const messages = toObjects(value.chat_messages)
    const nodes: ImportedNode[] = []
    for (const [index, message] of messages.entries()) nodes.push(toNode(message, index, nodes.at(-1)))
    return {
      sourceId,
      title: toText(value.name),
      createdAtMs: toTime(value.created_at),
      updatedAtMs: toTime(value.updated_at),
      systemPrompt: '',
      nodes,
      leafId: toId(value.current_leaf_message_uuid) ?? nodes.at(-1)?.id,
    }
  },
}

/** Messages without a parent follow the previous one. */
const noParent = '00000000-0000-4000-8000-000000000000'

function toNode(message: UnknownRecord, index: number, before: ImportedNode | undefined): ImportedNode {
  const isHuman = message.sender === 'human' || message.sender === 'user'
  const parent = toId(message.parent_message_uuid)
  const blocks = toObjects(message.content)
  const said = blocks.filter(({ type }) => type === 'text').map((it) => toText(it.text))
  const text = said.join('\n\n').trim() || toText(message.text).trim()
  const whole = [...toList(message.attachments).map(toAttachmentText), text].filter(Boolean).join('\n\n')
  return {
    id: toId(message.uuid) ?? `message ${index}`,
    parentId: parent === undefined ? before?.id : parent === noParent ? undefined : parent,
    role: whole === '' ? 'hidden' : isHuman ? 'user' : 'assistant',
    text: whole,
    reasoning: blocks
      .filter(({ type }) => type === 'thinking')
      .map((it) => toText(it.thinking))
      .join('\n\n'),
    model: toId(message.model),
    atMs: toTime(message.created_at),
  }
}

function toAttachmentText(attachment: unknown): string {
  const { file_name: name, extracted_content: content } = toObject(attachment) ?? {}
  const text = toText(content)
  return text === '' ? '' : `<attachment name=${JSON.stringify(toText(name))}>\n${text}\n</attachment>`
}
