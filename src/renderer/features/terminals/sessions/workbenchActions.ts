import type { Terminal } from '#shared/contract/terminals.ts'
import type { Layout } from '../layout/tabLayout.ts'
import type { StartDirectory } from './useTerminalActions.ts'

/** Places a new terminal in the layout. */
export type Arrange = (layout: Layout, terminalId: string) => Layout

export type WorkbenchActions = {
  select(terminal: Terminal): void
  close(terminals: readonly Terminal[], layout: Layout): void
  again(terminal: Terminal, arrange: Arrange): void
  allAgain(terminals: readonly Terminal[], replaced: (layout: Layout, old: string, added: string) => Layout): void
  /** Opens a terminal. Defaults to a new tab and the shell's default directory. */
  newTerminal(arrange?: Arrange, directory?: StartDirectory): void
  /** Removes all closed tabs except those of the listed terminals. */
  keepClosed(listedIds: readonly string[]): void
  askForCommand(): void
  startSandbox(): void
  askToDeleteSandbox(): void
  arrange(change: (layout: Layout) => Layout): void
  /** Renames a terminal; null removes the name. */
  rename(terminal: Terminal, name: string | null): void
  focus(): void
  retitle(terminal: Terminal, title: string | null): void
}
