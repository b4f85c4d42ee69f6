import type { ImportedNode } from './importedConversation.ts'

export type MendedMessage = Omit<ImportedNode, 'role' | 'parentId'> & {
  role: 'user' | 'assistant'
  parentId: string | undefined
}

/**
 * The messages of an export as a tree, parents before children, whatever the file says of parents: hidden nodes are left
 * out, a parent that is not there and a circle begin a branch of their own, and of two nodes with one id the first counts.
 */
export function mendedTree(given: readonly ImportedNode[]): MendedMessage[] {
  const nodes = new Map<string, ImportedNode>()
  for (const node of given) if (!nodes.has(node.id)) nodes.set(node.id, node)
  const done = new Map<string, Place>()
  const messages: MendedMessage[] = []

  const settle = (node: ImportedNode, before: Place): void => {
    if (node.role === 'hidden') {
      done.set(node.id, { parentId: before.parentId, reasoning: joined(before.reasoning, node.reasoning) })
      return
    }
    const { role, parentId: _, ...rest } = node
    const reasoning = role === 'assistant' ? joined(before.reasoning, node.reasoning) : ''
    messages.push({ ...rest, role, reasoning, parentId: before.parentId })
    done.set(node.id, { parentId: node.id, reasoning: '' })
  }

  for (const node of nodes.values()) {
    // From this node up to one that has its place, then down again.
    const way: ImportedNode[] = []
    const onTheWay = new Set<string>()
    let next: ImportedNode | undefined = node
    while (next && !done.has(next.id) && !onTheWay.has(next.id)) {
      way.push(next)
      onTheWay.add(next.id)
      next = next.parentId === undefined ? undefined : nodes.get(next.parentId)
    }
    let before: Place = (next && done.get(next.id)) ?? { parentId: undefined, reasoning: '' }
    for (const it of way.reverse()) {
      settle(it, before)
      before = done.get(it.id) ?? before
    }
  }
  return messages
}

/** What comes behind a node follows `parentId`, and its answer begins with `reasoning`. */
type Place = { parentId: string | undefined; reasoning: string }

function joined(one: string, other: string): string {
  return [one, other].filter((it) => it !== '').join('\n\n')
}
