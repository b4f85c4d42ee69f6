import type { TerminalSize } from './terminalScreen.ts'

export type SizeRequests = {
  /** Sets the size that fits this viewer. */
  set(size: TerminalSize): void
  /** Requests the viewer's size, unless the terminal already has this size or it was already requested. */
  send(): void
  /** Starts a connection on which the terminal has this size. */
  begin(size: TerminalSize): void
  confirm(size: TerminalSize): void
  /** Discards the pending request after the host has rejected it. */
  cancel(): void
}

/** Tracks a viewer's requests to resize the terminal. Several viewers may require different sizes. */
export function createSizeRequests(request: (size: TerminalSize) => void): SizeRequests {
  /** Current size of the terminal. */
  let visibleSize: TerminalSize | undefined
  /** Requested size that is not confirmed yet. */
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
