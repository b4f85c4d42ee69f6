import { type Direction, listPaneIds, type PaneTree, type Side, type Split, withShares } from './paneTree.ts'

/** Area of a pane as fractions of the tab, from 0 to 1. */
type Rect = { left: number; top: number; right: number; bottom: number }

/** Minimum share of a pane when resizing by keyboard. */
const minShare = 0.08
const roundingError = 1e-6

/** Returns the pane adjacent to `from`. If several are, returns the one with the longest common edge. */
export function findPaneNeighbor(tree: PaneTree, from: string, side: Side): string | undefined {
  const rooms = layOutPanes(tree)
  const own = rooms.get(from)
  if (!own) return undefined
  let best: { id: string; common: number } | undefined
  for (const [id, room] of rooms) {
    const common = isTouching(own, room, side) ? measureCommonEdge(own, room, side) : 0
    if (common > roundingError && common > (best?.common ?? 0)) best = { id, common }
  }
  return best?.id
}

/** Moves the divider of pane `id` towards `side`: the divider on that side, otherwise the opposite one. */
export function resizePane(tree: PaneTree, id: string, { side, by }: { side: Side; by: number }): PaneTree {
  const direction: Direction = side === 'left' || side === 'right' ? 'row' : 'column'
  const forward = side === 'right' || side === 'down'
  const target = findInnermostDivider(tree, id, direction)
  if (!target) return tree
  const { place, node, index } = target
  const last = node.parts.length - 1
  // Selects the divider before or after the part.
  const before = forward ? index === last : index > 0
  const [growing, giving] = getDividerParts(before ? index - 1 : index, forward)
  const shares = node.parts.map(({ share }) => share)
  const moved = Math.min(by, (shares[giving] ?? 0) - minShare)
  if (moved <= 0) return tree
  shares[growing] = (shares[growing] ?? 0) + moved
  shares[giving] = (shares[giving] ?? 0) - moved
  return withShares(tree, place, shares)
}

function getDividerParts(first: number, forward: boolean): [growing: number, giving: number] {
  return forward ? [first, first + 1] : [first + 1, first]
}

type Divider = { place: number[]; node: Split; index: number }

/** Returns the innermost split in this direction that contains the pane, and the path to it. */
function findInnermostDivider(tree: PaneTree, id: string, direction: Direction): Divider | undefined {
  if (tree.kind === 'pane') return undefined
  const index = tree.parts.findIndex((part) => listPaneIds(part.tree).includes(id))
  const part = tree.parts[index]
  if (!part) return undefined
  const deeper = findInnermostDivider(part.tree, id, direction)
  if (deeper) return { ...deeper, place: [index, ...deeper.place] }
  return tree.direction === direction ? { place: [], node: tree, index } : undefined
}

function layOutPanes(tree: PaneTree, room: Rect = { left: 0, top: 0, right: 1, bottom: 1 }): Map<string, Rect> {
  if (tree.kind === 'pane') return new Map([[tree.id, room]])
  const rooms = new Map<string, Rect>()
  let used = 0
  for (const { tree: inner, share } of tree.parts) {
    const [from, to] = [used, used + share]
    used = to
    const width = room.right - room.left
    const height = room.bottom - room.top
    const part =
      tree.direction === 'row'
        ? { ...room, left: room.left + width * from, right: room.left + width * to }
        : { ...room, top: room.top + height * from, bottom: room.top + height * to }
    for (const [id, it] of layOutPanes(inner, part)) rooms.set(id, it)
  }
  return rooms
}

function isTouching(own: Rect, other: Rect, side: Side): boolean {
  const [edge, opposite] = {
    left: [own.left, other.right],
    right: [own.right, other.left],
    up: [own.top, other.bottom],
    down: [own.bottom, other.top],
  }[side] as [number, number] // each case has two elements
  return Math.abs(edge - opposite) < roundingError
}

function measureCommonEdge(own: Rect, other: Rect, side: Side): number {
  return side === 'left' || side === 'right'
    ? Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top)
    : Math.min(own.right, other.right) - Math.max(own.left, other.left)
}
