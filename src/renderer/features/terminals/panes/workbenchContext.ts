import type { Terminal } from '#shared/contract/terminals.ts'
import type { Layout, TabLayout } from '../layout/tabLayout.ts'
import type { StartDirectory } from '../sessions/useTerminalActions.ts'
import type { WorkbenchActions } from '../sessions/workbenchActions.ts'
import type { Broadcast } from './useBroadcast.ts'

/** Dependencies of the commands and menus of tabs and panes. */
export type WorkbenchContext = {
  layout: Layout
  tab: TabLayout | undefined
  /** Terminal in view that has, or would receive, the focus. */
  present: Terminal | undefined
  byId: ReadonlyMap<string, Terminal>
  getLabel(terminalId: string): string
  /** Starting directory of a terminal opened beside this one. */
  directoryBeside(terminalId: string): StartDirectory
  running: boolean
  broadcast: Broadcast
  actions: WorkbenchActions
  /** Returns the stored layout, reconciled with the current terminals. */
  current(layout: Layout): Layout
  arrange(change: (layout: Layout) => Layout): void
  close(terminalIds: readonly string[]): void
  closeTabs(tabs: readonly TabLayout[]): void
  show(terminalId: string | undefined): void
  /** Starts editing the terminal's name. */
  rename(terminalId: string): void
}
