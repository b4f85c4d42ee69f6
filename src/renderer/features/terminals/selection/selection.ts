import { z } from 'zod'

/** What the person looks at: outlives a reload in its own window, and opens the next window. */
export const Selection = z.object({
  sandboxId: z.string().nullable(),
  /** The tab of each sandbox. */
  terminals: z.record(z.string(), z.string()),
  /** Ended terminals whose tab was closed; the service keeps them readable for a while yet. */
  closed: z.array(z.string()),
})
export type Selection = z.infer<typeof Selection>

export const nothingSelected: Selection = { sandboxId: null, terminals: {}, closed: [] }

const closedKept = 200

export function withSandboxSelected(selection: Selection, sandboxId: string): Selection {
  return { ...selection, sandboxId }
}

export function withTerminalSelected(selection: Selection, sandboxId: string, terminalId: string): Selection {
  return { ...selection, terminals: { ...selection.terminals, [sandboxId]: terminalId } }
}

export function withTabClosed(selection: Selection, terminalId: string): Selection {
  const others = selection.closed.filter((id) => id !== terminalId)
  return { ...selection, closed: [...others, terminalId].slice(-closedKept) }
}

/** It ended and its tab was closed, but the person wants to read it again. */
export function withTabOpen(selection: Selection, terminalId: string): Selection {
  return { ...selection, closed: selection.closed.filter((id) => id !== terminalId) }
}

export function withSandboxForgotten(selection: Selection, sandboxId: string): Selection {
  const { [sandboxId]: _, ...terminals } = selection.terminals
  return { ...selection, terminals, sandboxId: selection.sandboxId === sandboxId ? null : selection.sandboxId }
}

/** What stays selected when `gone` leaves `ids`: the next one, else the one before. */
export function neighbourOf<Id extends string>(ids: readonly Id[], gone: Id): Id | undefined {
  const place = ids.indexOf(gone)
  return place < 0 ? ids.at(-1) : (ids[place + 1] ?? ids[place - 1])
}
