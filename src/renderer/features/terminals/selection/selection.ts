import { z } from 'zod'

/** Selection in the window: survives a reload, and initializes the next window. */
export const Selection = z.object({
  sandboxId: z.string().nullable(),
  /** Selected tab of each sandbox. */
  terminals: z.record(z.string(), z.string()),
  /** Ended terminals with a closed tab by sandbox, removed once the service no longer lists them. */
  closed: z.record(z.string(), z.array(z.string())).catch({}),
})
export type Selection = z.infer<typeof Selection>

export const nothingSelected: Selection = { sandboxId: null, terminals: {}, closed: {} }

export function withSandboxSelected(selection: Selection, sandboxId: string): Selection {
  return { ...selection, sandboxId }
}

export function withTerminalSelected(selection: Selection, sandboxId: string, terminalId: string): Selection {
  return { ...selection, terminals: { ...selection.terminals, [sandboxId]: terminalId } }
}

export function withTabClosed(selection: Selection, sandboxId: string, terminalId: string): Selection {
  return withClosed(selection, sandboxId, (ids) => [...ids.filter((id) => id !== terminalId), terminalId])
}

/** Reopens the closed tab of an ended terminal. */
export function withTabOpen(selection: Selection, sandboxId: string, terminalId: string): Selection {
  return withClosed(selection, sandboxId, (ids) => ids.filter((id) => id !== terminalId))
}

/** Removes closed tabs of terminals that the service no longer lists. @returns the same object if unchanged */
export function withListedTabs(selection: Selection, sandboxId: string, listed: readonly string[]): Selection {
  const isListed = (id: string) => listed.includes(id)
  if (selection.closed[sandboxId]?.every(isListed) ?? true) return selection
  return withClosed(selection, sandboxId, (ids) => ids.filter(isListed))
}

export function withSandboxForgotten(selection: Selection, sandboxId: string): Selection {
  return {
    sandboxId: selection.sandboxId === sandboxId ? null : selection.sandboxId,
    terminals: removeKeys(selection.terminals, (id) => id === sandboxId),
    closed: removeKeys(selection.closed, (id) => id === sandboxId),
  }
}

/** Removes sandboxes that no longer exist. @returns the same object if unchanged */
export function withListedSandboxes(selection: Selection, listed: readonly string[]): Selection {
  const ids = [selection.sandboxId ?? [], Object.keys(selection.terminals), Object.keys(selection.closed)].flat()
  return ids.filter((id) => !listed.includes(id)).reduce(withSandboxForgotten, selection)
}

/** Returns the id to select after `removed` is removed from `ids`: the next one, otherwise the previous one. */
export function findNeighbor<Id extends string>(ids: readonly Id[], removed: Id): Id | undefined {
  const place = ids.indexOf(removed)
  return place < 0 ? ids.at(-1) : (ids[place + 1] ?? ids[place - 1])
}

function withClosed(selection: Selection, sandboxId: string, change: (ids: readonly string[]) => string[]): Selection {
  const ids = change(selection.closed[sandboxId] ?? [])
  const others = removeKeys(selection.closed, (id) => id === sandboxId)
  return { ...selection, closed: ids.length === 0 ? others : { ...others, [sandboxId]: ids } }
}

function removeKeys<Value>(record: Record<string, Value>, isLeft: (key: string) => boolean): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !isLeft(key)))
}
