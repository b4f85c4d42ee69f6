import { z } from 'zod'
import {
  createPane,
  listPaneIds,
  normalizeTree,
  PaneTree,
  removePane,
  type Side,
  withReplacement,
  withSplit,
} from './paneTree.ts'

/** `active` is the most recently used pane. If `zoomed`, only that pane is shown. */
export const TabLayout = z.object({
  id: z.string(),
  tree: PaneTree.transform(normalizeTree),
  active: z.string(),
  zoomed: z.boolean(),
})
export type TabLayout = z.infer<typeof TabLayout>

/** Tabs of one sandbox in order. Each terminal belongs to exactly one tab. */
export const Layout = z.array(TabLayout)
export type Layout = readonly TabLayout[]

export function findTab(layout: Layout, terminalId: string | undefined): TabLayout | undefined {
  return layout.find(({ tree }) => terminalId !== undefined && listPaneIds(tree).includes(terminalId))
}

/** Returns the layout with exactly these terminals. Removed terminals are dropped; new ones are appended as tabs. */
export function reconcileLayout(layout: Layout, terminalIds: readonly string[]): Layout {
  const seen = new Set<string>()
  let next: Layout = layout
  for (const id of layout.flatMap(({ tree }) => listPaneIds(tree))) {
    if (seen.has(id)) return reconcileLayout([], terminalIds) // invalid layout: a terminal may occur only once
    seen.add(id)
    if (!terminalIds.includes(id)) next = removeTerminal(next, id)
  }
  return terminalIds.filter((id) => !seen.has(id)).reduce(withNewTab, next.map(withValidActive))
}

function withValidActive(tab: TabLayout): TabLayout {
  const ids = listPaneIds(tab.tree)
  return ids.includes(tab.active) ? tab : { ...tab, active: ids[0] ?? tab.active, zoomed: false }
}

export function withNewTab(layout: Layout, terminalId: string): Layout {
  return [...layout, { id: createTabId(layout), tree: createPane(terminalId), active: terminalId, zoomed: false }]
}

export function removeTerminal(layout: Layout, terminalId: string): Layout {
  return layout.flatMap((tab) => {
    if (!listPaneIds(tab.tree).includes(terminalId)) return [tab]
    const tree = removePane(tab.tree, terminalId)
    if (!tree) return []
    const active = tab.active === terminalId ? nextActive(tab) : tab.active
    return [{ ...tab, tree, active, zoomed: tab.zoomed && active === tab.active }]
  })
}

/** Returns the pane that becomes active after the active one is removed: the next one, otherwise the previous one. */
function nextActive({ tree, active }: TabLayout): string {
  const ids = listPaneIds(tree)
  const place = ids.indexOf(active)
  return ids[place + 1] ?? ids[place - 1] ?? active
}

type Target = { at: string; side: Side }

/** Adds a terminal beside another one. */
export function withSplitTerminal(layout: Layout, terminalId: string, { at, side }: Target): Layout {
  return updateTab(removeTerminal(layout, terminalId), at, (tab) => ({
    ...tab,
    tree: withSplit(tab.tree, at, { side, added: createPane(terminalId) }),
    active: terminalId,
    zoomed: false,
  }))
}

/** Moves all panes of a tab beside a terminal of another tab. */
export function withTabMerged(layout: Layout, tabId: string, { at, side }: Target): Layout {
  const moved = layout.find(({ id }) => id === tabId)
  if (!moved || listPaneIds(moved.tree).includes(at)) return layout
  return updateTab(
    layout.filter((tab) => tab !== moved),
    at,
    (tab) => ({
      ...tab,
      tree: withSplit(tab.tree, at, { side, added: moved.tree }),
      active: moved.active,
      zoomed: false,
    }),
  )
}

/** Moves a terminal from its tab to a new tab at index `place`. */
export function withTerminalAsTab(layout: Layout, terminalId: string, place: number): Layout {
  const from = findTab(layout, terminalId)
  if (!from) return layout
  if (from.tree.kind === 'pane') return withTabMoved(layout, from.id, place)
  const [added] = withNewTab([...layout], terminalId).slice(-1)
  const rest = removeTerminal(layout, terminalId)
  return added ? [...rest.slice(0, place), added, ...rest.slice(place)] : rest
}

/** Moves a tab. `place` is the index of the tab before which it is inserted. */
export function withTabMoved(layout: Layout, tabId: string, place: number): Layout {
  const from = layout.findIndex(({ id }) => id === tabId)
  const moved = layout[from]
  if (!moved) return layout
  const others = layout.filter((tab) => tab !== moved)
  const target = place > from ? place - 1 : place
  return [...others.slice(0, target), moved, ...others.slice(target)]
}

export function withActive(layout: Layout, terminalId: string): Layout {
  return updateTab(layout, terminalId, (tab) =>
    tab.active === terminalId ? tab : { ...tab, active: terminalId, zoomed: false },
  )
}

/** Replaces a terminal with another one, for example when its command is run again. */
export function withReplaced(layout: Layout, old: string, added: string): Layout {
  return updateTab(removeTerminal(layout, added), old, (tab) => ({
    ...tab,
    tree: withReplacement(tab.tree, old, added),
    active: tab.active === old ? added : tab.active,
  }))
}

/**
 * Returns the terminal to show after these are closed while `present` is shown.
 * @returns undefined if no terminal remains
 */
export function findNextTerminal(layout: Layout, leaving: readonly string[], present: string): string | undefined {
  const left = leaving.reduce(removeTerminal, layout)
  const own = findTab(layout, present)
  const place = own ? layout.indexOf(own) : -1
  const isLeft = ({ id }: TabLayout) => left.some((tab) => tab.id === id)
  const next =
    own && isLeft(own) ? own : (layout.slice(place + 1).find(isLeft) ?? layout.slice(0, place).findLast(isLeft))
  return left.find(({ id }) => id === next?.id)?.active
}

export function updateTab(layout: Layout, terminalId: string, change: (tab: TabLayout) => TabLayout): Layout {
  const own = findTab(layout, terminalId)
  return layout.map((tab) => (tab === own ? change(tab) : tab))
}

function createTabId(layout: Layout): string {
  return String(Math.max(0, ...layout.map(({ id }) => Number(id) || 0)) + 1)
}
