import {
  type ExportFormat,
  type ImportedNode,
  idOf,
  type LooseObject,
  listOf,
  objectOf,
  objectsOf,
  textOf,
  timeOf,
} from './importedConversation.ts'

/** `conversations.json`: a list whose conversations have `chat_messages` of `human` and `assistant`, in their order. */
export const claudeExport: ExportFormat = {
  name: 'claude',
  isConversation: (value) => Array.isArray(value.chat_messages),
  read(value) {
    const sourceId = idOf(value.uuid)
    if (sourceId === undefined) throw new Error('It has no id.')
    const messages = objectsOf(value.chat_messages)
    const nodes: ImportedNode[] = []
    for (const [at, message] of messages.entries()) nodes.push(nodeOf(message, at, nodes.at(-1)))
    return {
      sourceId,
      title: textOf(value.name),
      createdAtMs: timeOf(value.created_at),
      updatedAtMs: timeOf(value.updated_at),
      systemPrompt: '',
      nodes,
      leafId: idOf(value.current_leaf_message_uuid) ?? nodes.at(-1)?.id,
    }
  },
}

/** Where no parent is told, a message follows the one before. */
const noParent = '00000000-0000-4000-8000-000000000000'

function nodeOf(message: LooseObject, at: number, before: ImportedNode | undefined): ImportedNode {
  const isHuman = message.sender === 'human' || message.sender === 'user'
  const parent = idOf(message.parent_message_uuid)
  const blocks = objectsOf(message.content)
  const said = blocks.filter(({ type }) => type === 'text').map((it) => textOf(it.text))
  const text = said.join('\n\n').trim() || textOf(message.text).trim()
  const whole = [...listOf(message.attachments).map(attachedText), text].filter(Boolean).join('\n\n')
  return {
    id: idOf(message.uuid) ?? `message ${at}`,
    parentId: parent === undefined ? before?.id : parent === noParent ? undefined : parent,
    role: whole === '' ? 'hidden' : isHuman ? 'user' : 'assistant',
    text: whole,
    reasoning: blocks
      .filter(({ type }) => type === 'thinking')
      .map((it) => textOf(it.thinking))
      .join('\n\n'),
    model: idOf(message.model),
    atMs: timeOf(message.created_at),
  }
}

function attachedText(attachment: unknown): string {
  const { file_name: name, extracted_content: content } = objectOf(attachment) ?? {}
  const text = textOf(content)
  return text === '' ? '' : `<attachment name=${JSON.stringify(textOf(name))}>\n${text}\n</attachment>`
}
