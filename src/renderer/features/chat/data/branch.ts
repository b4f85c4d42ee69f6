import type { Message } from '#shared/contract/chatMessages.ts'
import type { MessageId } from '#shared/contract/chats.ts'

/** Loaded part of a branch: messages at consecutive positions. */
export type Branch = {
  messages: readonly Message[]
  /** Alternative responses of groups, unordered. */
  beside: readonly Message[]
  total: number
  leafId: MessageId | null
}

export type BranchPage = {
  messages: readonly Message[]
  beside: readonly Message[]
  total: number
  leaf_id: MessageId | null
}

export function toBranch({ messages, beside, total, leaf_id: leafId }: BranchPage): Branch {
  return { messages, beside, total, leafId }
}

export function hasEarlier({ messages }: Branch): boolean {
  return (messages[0]?.position ?? 1) > 1
}

export function hasLater({ messages, total }: Branch): boolean {
  return (messages.at(-1)?.position ?? total) < total
}

/** Merges a page into the branch by prepending, appending or replacing messages. */
export function withPage(branch: Branch, page: BranchPage): Branch {
  const first = page.messages[0]
  const last = page.messages.at(-1)
  if (!first || !last) return page.total === 0 ? toBranch(page) : branch
  const before = branch.messages.filter(({ position }) => position < first.position)
  const behind = branch.messages.filter(({ position }) => position > last.position)
  const joins = {
    before: before.length === 0 || before.at(-1)?.id === first.parent_id,
    behind: behind.length === 0 || behind[0]?.parent_id === last.id,
  }
  const messages = [
    ...(joins.before ? before : []),
    ...page.messages,
    // Drops loaded messages that belong to another branch or lie beyond its end.
    ...(joins.behind && last.position < page.total ? behind : []),
  ]
  const ids = new Set(page.beside.map(({ id }) => id))
  const groups = new Set(messages.flatMap(({ group_id: group }) => group ?? []))
  const siblings = branch.beside.filter(
    ({ id, group_id: group }) => !ids.has(id) && group !== null && groups.has(group),
  )
  return { messages, beside: [...siblings, ...page.beside], total: page.total, leafId: page.leaf_id }
}

/** Replaces a loaded message with a newer state. */
export function withMessage(branch: Branch, message: Message): Branch {
  const put = (item: Message) => (item.id === message.id ? message : item)
  const isIn = (all: readonly Message[]) => all.some(({ id }) => id === message.id)
  return {
    ...branch,
    ...(isIn(branch.messages) && { messages: branch.messages.map(put) }),
    ...(isIn(branch.beside) && { beside: branch.beside.map(put) }),
  }
}

/** Adds the result of a send: a user message with its responses, or further responses to an existing message. */
export function withSent(branch: Branch, sent: { user: Message | null; answers: readonly Message[] }): Branch {
  const [response, ...others] = sent.answers
  const added = [sent.user, response].flatMap((it) => it ?? [])
  const first = added[0]
  if (!first) return branch
  const before = branch.messages.filter(({ position }) => position < first.position)
  if (before.length > 0 && before.at(-1)?.id !== first.parent_id) return branch
  return {
    messages: [...before, ...added],
    beside: [...branch.beside, ...others],
    total: added.at(-1)?.position ?? branch.total,
    leafId: added.at(-1)?.id ?? branch.leafId,
  }
}

/** Row of the conversation: a message, or responses side by side. */
export type BranchRow = { key: string; message: Message; beside: readonly Message[] }

export function listBranchRows({ messages, beside }: Branch): BranchRow[] {
  return messages.map((message) => {
    const group = message.group_id
    const others =
      group === null ? [] : beside.filter((candidate) => candidate.group_id === group && candidate.id !== message.id)
    const order = (it: Message) => message.sibling_ids.indexOf(it.id)
    const all = others.length === 0 ? [] : [message, ...others].sort((a, b) => order(a) - order(b))
    return { key: group ?? message.id, message, beside: all }
  })
}
