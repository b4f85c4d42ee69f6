import type { Terminal } from '#shared/contract/terminals.ts'
import type { Layout } from '../layout/tabLayout.ts'
import type { StartDirectory } from './useTerminalActions.ts'

/** Places a new terminal in the layout. */
export type Arrange = (layout: Layout, terminalId: string) => Layout

/** User actions on the terminals of one sandbox. */
export type WorkbenchActions = {
  select(terminal: Terminal): void
  close(terminals: readonly Terminal[], layout: Layout): void
  again(terminal: Terminal, arrange: Arrange): void
  allAgain(terminals: readonly Terminal[], replaced: (layout: Layout, old: string, added: string) => Layout): void
  /** Opens a terminal. Default: in a new tab, in the shell's default directory. */
  newTerminal(arrange?: Arrange, directory?: StartDirectory): void
  /** Removes closed tabs of all other terminals of the sandbox. */
  keepClosed(listedIds: readonly string[]): void
  askForCommand(): void
  startSandbox(): void
  askToDeleteSandbox(): void
  arrange(change: (layout: Layout) => Layout): void
  /** Null takes the name away. */
  rename(terminal: Terminal, name: string | null): void
  /** Gives the terminal in view the keyboard. */
  focus(): void
  retitle(terminal: Terminal, title: string | null): void
}
