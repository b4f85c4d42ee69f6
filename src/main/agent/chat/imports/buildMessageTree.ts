import type { ImportedNode } from './importedConversation.ts'

export type TreeMessage = Omit<ImportedNode, 'role' | 'parentId'> & {
  role: 'user' | 'assistant'
  parentId: string | undefined
}

/**
 * Builds a tree from the messages of an export, parents before children. Invalid parents are repaired: hidden nodes are
 * omitted, missing parents and cycles start a new branch, and the first of several nodes with the same id wins.
 */
export function buildMessageTree(imported: readonly ImportedNode[]): TreeMessage[] {
  const nodes = new Map<string, ImportedNode>()
  for (const node of imported) if (!nodes.has(node.id)) nodes.set(node.id, node)
  const done = new Map<string, ParentRef>()
  const messages: TreeMessage[] = []

  const settle = (node: ImportedNode, before: ParentRef): void => {
    if (node.role === 'hidden') {
      const thoughts = node.reasoning === '' ? before.thoughts : { text: node.reasoning, before: before.thoughts }
      done.set(node.id, { parentId: before.parentId, thoughts })
      return
    }
    const { role, parentId: _, ...rest } = node
    const reasoning = role === 'assistant' ? joinThoughts({ text: node.reasoning, before: before.thoughts }) : ''
    messages.push({ ...rest, role, reasoning, parentId: before.parentId })
    done.set(node.id, { parentId: node.id, thoughts: undefined })
  }

  for (const node of nodes.values()) {
    // Path from this node up to its first placed ancestor.
    const way: ImportedNode[] = []
    const onTheWay = new Set<string>()
    let next: ImportedNode | undefined = node
    while (next && !done.has(next.id) && !onTheWay.has(next.id)) {
      way.push(next)
      onTheWay.add(next.id)
      next = next.parentId === undefined ? undefined : nodes.get(next.parentId)
    }
    let before: ParentRef = (next && done.get(next.id)) ?? { parentId: undefined, thoughts: undefined }
    for (const node of way.reverse()) {
      settle(node, before)
      before = done.get(node.id) ?? before
    }
  }
  return messages
}

/** Children of a node are attached to `parentId`. The first assistant message among them gets the thoughts. */
type ParentRef = { parentId: string | undefined; thoughts: Thought | undefined }

/**
 * Reasoning of a hidden node, linked to the preceding one. Several nodes may share it; the first assistant message uses
 * it.
 */
type Thought = { text: string; before: Thought | undefined; isUsed?: boolean }

/** Maximum reasoning of one message, in characters. */
export const maxReasoningLength = 1_000_000

/** Returns thoughts that no other assistant message has used, so that a text is not copied to every descendant. */
function joinThoughts(last: Thought): string {
  const texts: string[] = []
  let length = 0
  for (let thought: Thought | undefined = last; thought && !thought.isUsed; thought = thought.before) {
    thought.isUsed = true
    if (thought.text === '' || length >= maxReasoningLength) continue
    texts.push(thought.text)
    length += thought.text.length
  }
  return texts.reverse().join('\n\n').slice(0, maxReasoningLength)
}
