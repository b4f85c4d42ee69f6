import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findPaneNeighbor, resizePane } from './paneRoom.ts'
import {
  createPane,
  listPaneIds,
  normalizeTree,
  PaneTree,
  removePane,
  type Side,
  withReplacement,
  withShares,
  withSplit,
} from './paneTree.ts'

const beside = (tree: PaneTree, at: string, side: Side, id: string) =>
  withSplit(tree, at, { side, added: createPane(id) })

/** Formats a tree as `a│(b─c)` or `a│b│c`. */
function drawn(tree: PaneTree): string {
  if (tree.kind === 'pane') return tree.id
  const parts = tree.parts.map(({ tree: part }) => (part.kind === 'pane' ? part.id : `(${drawn(part)})`))
  return parts.join(tree.direction === 'row' ? '│' : '─')
}

function listShares(tree: PaneTree): number[] {
  return tree.kind === 'pane' ? [] : tree.parts.map(({ share }) => Math.round(share * 1000) / 1000)
}

const grid = beside(beside(beside(createPane('a'), 'a', 'right', 'b'), 'b', 'down', 'c'), 'a', 'down', 'd')

test('splits a terminal to any of its four sides', () => {
  const sides: Side[] = ['left', 'right', 'up', 'down']
  expect(sides.map((side) => drawn(beside(createPane('a'), 'a', side, 'b')))).toEqual(['b│a', 'a│b', 'b─a', 'a─b'])
  expect(drawn(grid)).toBe('(a─d)│(b─c)')
})

test('a second split in the same direction shares half the space of its neighbor', () => {
  const three = beside(beside(createPane('a'), 'a', 'right', 'b'), 'b', 'right', 'c')
  expect(drawn(three)).toBe('a│b│c')
  expect(listShares(three)).toEqual([0.5, 0.25, 0.25])
})

test('a closed pane leaves its space to others and a single-pane split collapses', () => {
  const left = removePane(grid, 'c') ?? createPane('none')
  expect(drawn(left)).toBe('(a─d)│b')
  expect(drawn(removePane(left, 'b') ?? createPane('none'))).toBe('a─d')
  expect(removePane(createPane('a'), 'a')).toBeUndefined()
  expect(drawn(withReplacement(grid, 'd', 'z'))).toBe('(a─z)│(b─c)')
})

test('finds the visually adjacent pane on each side', () => {
  expect(findPaneNeighbor(grid, 'a', 'right')).toBe('b')
  expect(findPaneNeighbor(grid, 'c', 'left')).toBe('d')
  expect(findPaneNeighbor(grid, 'c', 'up')).toBe('b')
  expect(findPaneNeighbor(grid, 'c', 'down')).toBeUndefined()
  const uneven = withShares(grid, [0], [0.3, 0.7])
  expect(findPaneNeighbor(uneven, 'b', 'left')).toBe('a')
  expect(findPaneNeighbor(uneven, 'c', 'left')).toBe('d')
})

test('keys move the divider on that side or the opposite one at the edge', () => {
  const two = beside(createPane('a'), 'a', 'right', 'b')
  expect(listShares(resizePane(two, 'a', { side: 'right', by: 0.1 }))).toEqual([0.6, 0.4])
  expect(listShares(resizePane(two, 'b', { side: 'right', by: 0.1 }))).toEqual([0.6, 0.4])
  expect(listShares(resizePane(two, 'a', { side: 'left', by: 0.1 }))).toEqual([0.4, 0.6])
  expect(listShares(resizePane(two, 'b', { side: 'left', by: 0.9 }))).toEqual([0.08, 0.92])
  expect(resizePane(two, 'a', { side: 'up', by: 0.1 })).toBe(two)
})

test('restores a stored tree and normalizes or rejects an invalid one', () => {
  expect(PaneTree.parse(JSON.parse(JSON.stringify(grid)))).toEqual(grid)
  const nested = {
    kind: 'split',
    direction: 'row',
    parts: [
      { tree: grid, share: 4 },
      { tree: createPane('e'), share: 4 },
    ],
  } as const
  expect(drawn(normalizeTree(nested))).toBe('(a─d)│(b─c)│e')
  expect(listShares(normalizeTree(nested))).toEqual([0.25, 0.25, 0.5])
  for (const broken of [null, { kind: 'pane' }, { kind: 'split', direction: 'row', parts: [] }]) {
    expect(PaneTree.safeParse(broken).success).toBe(false)
  }
})

/** Asserts the invariants of every tree that `split` creates. */
function expectValid(tree: PaneTree): void {
  if (tree.kind === 'pane') return
  expect(tree.parts.length).toBeGreaterThan(1)
  expect(tree.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6)
  for (const part of tree.parts) {
    expect(part.share).toBeGreaterThan(0)
    if (part.tree.kind === 'split') expect(part.tree.direction).not.toBe(tree.direction)
    expectValid(part.tree)
  }
}

test('the tree remains valid and complete after random splits and closes, moves and resizes', () => {
  const step = fc.record({
    deed: fc.constantFrom('split', 'close', 'move', 'grow'),
    which: fc.nat(),
    other: fc.nat(),
    side: fc.constantFrom<Side>('left', 'right', 'up', 'down'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let tree: PaneTree = createPane('0')
      let expected = ['0']
      for (const [index, { deed, which, other, side }] of steps.entries()) {
        const id = expected[which % expected.length] ?? '0'
        const at = expected[other % expected.length] ?? '0'
        if (deed === 'split') {
          tree = beside(tree, id, side, `${index + 1}`)
          expected.push(`${index + 1}`)
        } else if (deed === 'close' && expected.length > 1) {
          tree = removePane(tree, id) ?? tree
          expected = expected.filter((it) => it !== id)
        } else if (deed === 'move' && id !== at) {
          tree = beside(removePane(tree, id) ?? tree, at, side, id)
        } else if (deed === 'grow') tree = resizePane(tree, id, { side, by: 0.05 })
        expectValid(tree)
        expect(listPaneIds(tree).sort()).toEqual([...expected].sort())
        const next = findPaneNeighbor(tree, id, side)
        if (next !== undefined) expect(expected).toContain(next)
      }
    }),
  )
})
