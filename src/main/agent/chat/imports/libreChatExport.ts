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

/**
 * One conversation: `messages` as a list with `parentMessageId`, or `messagesTree` (with `recursive` also `messages`)
 * whose messages have their `children` in them.
 * @see https://github.com/danny-avila/LibreChat/tree/main/api/server/utils/import
 */
export const libreChatExport: ExportFormat = {
  name: 'librechat',
  isConversation: (value) =>
    value.conversationId !== undefined && (Array.isArray(value.messages) || Array.isArray(value.messagesTree)),
  read(value) {
    const sourceId = idOf(value.conversationId)
    if (sourceId === undefined) throw new Error('It has no id.')
    const options = objectOf(value.options) ?? {}
    const nodes = flattened(Array.isArray(value.messagesTree) ? value.messagesTree : listOf(value.messages), options)
    const times = nodes.flatMap(({ atMs }) => atMs ?? [])
    return {
      sourceId,
      title: textOf(value.title),
      createdAtMs: times.reduce<number | undefined>((least, it) => Math.min(least ?? it, it), undefined),
      updatedAtMs: times.reduce<number | undefined>((most, it) => Math.max(most ?? it, it), undefined),
      systemPrompt: textOf(options.promptPrefix) || textOf(options.system),
      nodes,
      leafId: nodes.at(-1)?.id,
    }
  },
}

type Todo = { message: LooseObject; parentId: string | undefined }

/** A tree can be as deep as the file is long: it is walked without recursion, in the order of the file. */
function flattened(messages: readonly unknown[], options: LooseObject): ImportedNode[] {
  const nodes: ImportedNode[] = []
  const todo: Todo[] = childrenOf(messages, undefined)
  for (let next = todo.pop(); next; next = todo.pop()) {
    const node = nodeOf(next, nodes.length, options)
    nodes.push(node)
    for (const child of childrenOf(listOf(next.message.children), node.id)) todo.push(child)
  }
  return nodes
}

function childrenOf(messages: readonly unknown[], parentId: string | undefined): Todo[] {
  return objectsOf(messages)
    .map((message) => ({ message, parentId }))
    .reverse()
}

function nodeOf({ message, parentId }: Todo, at: number, options: LooseObject): ImportedNode {
  const parts = objectsOf(message.content)
  const said = parts
    .filter(({ type }) => type === 'text')
    .map((it) => textOf(it.text) || textOf(objectOf(it.text)?.value))
  const text = textOf(message.text).trim() || said.join('\n\n').trim()
  const isUser = message.isCreatedByUser === true
  return {
    id: idOf(message.messageId) ?? `message ${at}`,
    // Of a message that is nested, its place tells.
    parentId: parentId ?? idOf(message.parentMessageId),
    role: text === '' || message.error === true ? 'hidden' : isUser ? 'user' : 'assistant',
    text,
    reasoning: parts
      .filter(({ type }) => type === 'think')
      .map((it) => textOf(it.think))
      .join('\n\n'),
    model: isUser ? undefined : (idOf(message.model) ?? idOf(options.model) ?? idOf(message.sender)),
    atMs: timeOf(message.createdAt),
  }
}
