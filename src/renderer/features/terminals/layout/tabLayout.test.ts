import { expect, test } from 'vitest'
import { createPane, listPaneIds } from './paneTree.ts'
import {
  findNextTerminal,
  findTab,
  type Layout,
  Layout as LayoutSchema,
  reconcileLayout,
  removeTerminal,
  withActive,
  withReplaced,
  withSplitTerminal,
  withTabMerged,
  withTabMoved,
  withTerminalAsTab,
} from './tabLayout.ts'

const format = (layout: Layout) => layout.map(({ tree, active }) => `${listPaneIds(tree).join('')}:${active}`)
const three = reconcileLayout([], ['a', 'b', 'c'])
const split = withSplitTerminal(three, 'b', { at: 'a', side: 'right' })

test('appends unplaced terminals as separate tabs at the end', () => {
  expect(format(three)).toEqual(['a:a', 'b:b', 'c:c'])
  expect(format(reconcileLayout(split, ['a', 'b', 'c', 'new']))).toEqual(['ab:b', 'c:c', 'new:new'])
  expect(new Set(reconcileLayout(split, ['a', 'b', 'c', 'd', 'e']).map(({ id }) => id)).size).toBe(4)
})

test('removes a closed terminal from its pane and an empty tab from the layout', () => {
  expect(format(reconcileLayout(split, ['a', 'c']))).toEqual(['a:a', 'c:c'])
  expect(format(reconcileLayout(split, ['c']))).toEqual(['c:c'])
  expect(reconcileLayout(split, ['a', 'b', 'c'])).toEqual(split)
})

test('repairs a layout with a duplicate terminal or an unknown active pane', () => {
  const twice = [...three, { id: '9', tree: createPane('a'), active: 'a', zoomed: false }]
  expect(format(reconcileLayout(twice, ['a', 'b', 'c']))).toEqual(['a:a', 'b:b', 'c:c'])
  const lost = [{ id: '1', tree: createPane('a'), active: 'nobody', zoomed: true }]
  expect(reconcileLayout(lost, ['a'])).toEqual([{ id: '1', tree: createPane('a'), active: 'a', zoomed: false }])
})

test('moves tabs before one another', () => {
  const [a, b, c] = three.map(({ id }) => id) as [string, string, string]
  expect(format(withTabMoved(three, a, 3))).toEqual(['b:b', 'c:c', 'a:a'])
  expect(format(withTabMoved(three, c, 0))).toEqual(['c:c', 'a:a', 'b:b'])
  expect(format(withTabMoved(three, b, 1))).toEqual(format(three))
  expect(format(withTabMoved(three, b, 2))).toEqual(format(three))
  expect(withTabMoved(three, 'none', 0)).toBe(three)
})

test('merges a tab into a split of another and moves a terminal back to a tab', () => {
  const [ab, c] = split.map(({ id }) => id) as [string, string]
  const merged = withTabMerged(split, ab, { at: 'c', side: 'down' })
  expect(format(merged)).toEqual(['cab:b'])
  expect(withTabMerged(split, ab, { at: 'a', side: 'down' })).toBe(split)
  expect(format(withTerminalAsTab(merged, 'a', 0))).toEqual(['a:a', 'cb:b'])
  expect(format(withTerminalAsTab(split, 'c', 0))).toEqual(['c:c', 'ab:b'])
  expect(findTab(merged, 'a')?.id).toBe(c)
})

test('remembers the last used pane and activates another when it closes', () => {
  const used = withActive(split, 'a')
  expect(format(used)).toEqual(['ab:a', 'c:c'])
  expect(format(removeTerminal(used, 'a'))).toEqual(['b:b', 'c:c'])
  expect(format(withReplaced(split, 'b', 'z'))).toEqual(['az:z', 'c:c'])
})

test('after a close selects a neighbor in the tab, else the next or previous tab', () => {
  expect(findNextTerminal(split, ['b'], 'b')).toBe('a')
  expect(findNextTerminal(split, ['a', 'b'], 'b')).toBe('c')
  expect(findNextTerminal(split, ['c'], 'c')).toBe('b')
  expect(findNextTerminal(three, ['b', 'c'], 'c')).toBe('a')
  expect(findNextTerminal(three, ['a', 'b', 'c'], 'b')).toBeUndefined()
})

test('round-trips a stored layout', () => {
  expect(LayoutSchema.parse(JSON.parse(JSON.stringify(split)))).toEqual(split)
})
