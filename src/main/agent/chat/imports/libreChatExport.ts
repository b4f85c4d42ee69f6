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

/**
 * Single conversation: `messages` as a list with `parentMessageId`, or `messagesTree` (with `recursive` also
 * `messages`) with nested `children`.
 * @see https://github.com/danny-avila/LibreChat/tree/main/api/server/utils/import
 */
export const libreChatExport: ExportFormat = {
  name: 'librechat',
  isConversation: (value) =>
    value.conversationId !== undefined && (Array.isArray(value.messages) || Array.isArray(value.messagesTree)),
  read(value) {
    const sourceId = toId(value.conversationId)
    if (sourceId === undefined) throw new Error('The conversation has no id.')
    const options = toObject(value.options) ?? {}
    const nodes = flatten(Array.isArray(value.messagesTree) ? value.messagesTree : toList(value.messages), options)
    const times = nodes.flatMap(({ atMs }) => atMs ?? [])
    return {
      sourceId,
      title: toText(value.title),
      createdAtMs: times.reduce<number | undefined>((min, it) => Math.min(min ?? it, it), undefined),
      updatedAtMs: times.reduce<number | undefined>((max, it) => Math.max(max ?? it, it), undefined),
      systemPrompt: toText(options.promptPrefix) || toText(options.system),
      nodes,
      leafId: nodes.at(-1)?.id,
    }
  },
}

type Todo = { message: UnknownRecord; parentId: string | undefined }

/** Flattens a tree in file order. Iterative, because the tree may be arbitrarily deep. */
function flatten(messages: readonly unknown[], options: UnknownRecord): ImportedNode[] {
  const nodes: ImportedNode[] = []
  const todo: Todo[] = listChildren(messages, undefined)
  for (let next = todo.pop(); next; next = todo.pop()) {
    const node = toNode(next, nodes.length, options)
    nodes.push(node)
    for (const child of listChildren(toList(next.message.children), node.id)) todo.push(child)
  }
  return nodes
}

function listChildren(messages: readonly unknown[], parentId: string | undefined): Todo[] {
  return toObjects(messages)
    .map((message) => ({ message, parentId }))
    .reverse()
}

function toNode({ message, parentId }: Todo, index: number, options: UnknownRecord): ImportedNode {
  const parts = toObjects(message.content)
  const said = parts
    .filter(({ type }) => type === 'text')
    .map((part) => toText(part.text) || toText(toObject(part.text)?.value))
  const text = toText(message.text).trim() || said.join('\n\n').trim()
  const isUser = message.isCreatedByUser === true
  return {
    id: toId(message.messageId) ?? `message ${index}`,
    // Nested messages derive their parent from their position.
    parentId: parentId ?? toId(message.parentMessageId),
    role: text === '' || message.error === true ? 'hidden' : isUser ? 'user' : 'assistant',
    text,
    reasoning: parts
      .filter(({ type }) => type === 'think')
      .map((it) => toText(it.think))
      .join('\n\n'),
    model: isUser ? undefined : (toId(message.model) ?? toId(options.model) ?? toId(message.sender)),
    atMs: toTime(message.createdAt),
  }
}
