import { z } from 'zod'

/**
 * Layout of a tab's terminals. `shares` are fractions of 1. A split never directly contains a split of the same
 * direction.
 */
export type PaneTree = Pane | Split
export type Pane = { kind: 'pane'; id: string }
export type Split = { kind: 'split'; direction: Direction; parts: readonly Part[] }
export type Part = { tree: PaneTree; share: number }
export type Direction = 'row' | 'column'
export type Side = 'left' | 'right' | 'up' | 'down'

export const PaneTree: z.ZodType<PaneTree> = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('pane'), id: z.string() }),
    z.object({
      kind: z.literal('split'),
      direction: z.enum(['row', 'column']),
      parts: z.array(z.object({ tree: PaneTree, share: z.number().positive() })).min(2),
    }),
  ]),
)

export function createPane(id: string): Pane {
  return { kind: 'pane', id }
}

/** Lists the panes from left to right and top to bottom. */
export function listPaneIds(tree: PaneTree): string[] {
  return tree.kind === 'pane' ? [tree.id] : tree.parts.flatMap((part) => listPaneIds(part.tree))
}

/** Splits pane `at` in half and places `added` on the given side. */
export function withSplit(tree: PaneTree, at: string, { side, added }: { side: Side; added: PaneTree }): PaneTree {
  if (tree.kind === 'split') {
    return split(
      tree.direction,
      tree.parts.map((part) => ({ ...part, tree: withSplit(part.tree, at, { side, added }) })),
    )
  }
  if (tree.id !== at) return tree
  const both = [added, tree].map((it) => ({ tree: it, share: 0.5 }))
  return split(
    side === 'left' || side === 'right' ? 'row' : 'column',
    side === 'left' || side === 'up' ? both : both.reverse(),
  )
}

/** Removes a pane and enlarges its neighbors. @returns undefined if no pane remains */
export function removePane(tree: PaneTree, id: string): PaneTree | undefined {
  if (tree.kind === 'pane') return tree.id === id ? undefined : tree
  const parts = tree.parts.flatMap((part) => {
    const left = removePane(part.tree, id)
    return left ? [{ ...part, tree: left }] : []
  })
  return parts.length === 0 ? undefined : split(tree.direction, parts)
}

export function withReplacement(tree: PaneTree, id: string, added: string): PaneTree {
  if (tree.kind === 'pane') return tree.id === id ? createPane(added) : tree
  return { ...tree, parts: tree.parts.map((part) => ({ ...part, tree: withReplacement(part.tree, id, added) })) }
}

/** Normalizes a stored tree to the form that `split` creates. */
export function normalizeTree(tree: PaneTree): PaneTree {
  if (tree.kind === 'pane') return tree
  return split(
    tree.direction,
    tree.parts.map((part) => ({ ...part, tree: normalizeTree(part.tree) })),
  )
}

/** Sets the shares of the split at a path of part indexes. */
export function withShares(tree: PaneTree, place: readonly number[], shares: readonly number[]): PaneTree {
  if (tree.kind === 'pane') return tree
  const [next, ...deeper] = place
  const parts =
    next === undefined
      ? tree.parts.map((part, index) => ({ ...part, share: shares[index] ?? part.share }))
      : tree.parts.map((part, index) =>
          index === next ? { ...part, tree: withShares(part.tree, deeper, shares) } : part,
        )
  return split(tree.direction, parts)
}

/**
 * Creates a valid tree: shares add up to 1, and no split has a single part or directly contains a split of the same
 * direction.
 */
export function split(direction: Direction, parts: readonly Part[]): PaneTree {
  const [only] = parts
  if (parts.length === 1 && only) return only.tree
  const flat = parts.flatMap(({ tree, share }) =>
    tree.kind === 'split' && tree.direction === direction
      ? tree.parts.map((inner) => ({ tree: inner.tree, share: inner.share * share }))
      : [{ tree, share }],
  )
  const whole = flat.reduce((sum, { share }) => sum + share, 0)
  return { kind: 'split', direction, parts: flat.map(({ tree, share }) => ({ tree, share: share / whole })) }
}
