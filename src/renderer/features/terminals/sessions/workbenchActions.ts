import type { Terminal } from '../../../../shared/contract/terminals.ts'

/** What a person can do with the terminals of one sandbox. */
export type WorkbenchActions = {
  select(terminal: Terminal): void
  close(terminals: readonly Terminal[], tabs: readonly Terminal[]): void
  again(terminal: Terminal): void
  newTerminal(): void
  askForCommand(): void
  /** Gives the terminal in view the keyboard. */
  focus(): void
  retitle(terminal: Terminal, title: string | null): void
}
