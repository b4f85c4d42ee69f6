import type { TerminalSize } from './terminalScreen.ts'

export type SizeRequests = {
  /** Sets the size that this viewer has room for. */
  set(size: TerminalSize): void
  /** Requests that size unless the terminal has it, or was already requested to take it. */
  send(): void
  /** Begins a connection on which the terminal has this size. */
  begin(size: TerminalSize): void
  confirm(size: TerminalSize): void
  /** Ends the open request: the host has refused it. */
  cancel(): void
}

/** Requests of a viewer to resize the terminal, of which several viewers may disagree about the size. */
export function createSizeRequests(request: (size: TerminalSize) => void): SizeRequests {
  /** Size of the terminal. */
  let visibleSize: TerminalSize | undefined
  /** Size requested and not confirmed. */
  let openRequest: TerminalSize | undefined
  let viewerSize: TerminalSize | undefined
  return {
    set({ cols, rows }) {
      viewerSize = { cols, rows }
    },
    send() {
      if (viewerSize === undefined || isSame(viewerSize, openRequest ?? visibleSize)) return
      openRequest = viewerSize
      request(viewerSize)
    },
    begin(size) {
      visibleSize = size
      openRequest = undefined
    },
    confirm(size) {
      visibleSize = size
      if (openRequest !== undefined && isSame(openRequest, size)) openRequest = undefined
    },
    cancel() {
      openRequest = undefined
    },
  }
}

function isSame(a: TerminalSize, b: TerminalSize | undefined): boolean {
  return a.cols === b?.cols && a.rows === b?.rows
}
