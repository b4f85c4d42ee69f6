import { Terminal } from '@xterm/xterm'
import { computeChunkBytes, limitTerminal, limitWidths } from '#shared/terminalBounds.ts'
import { type Cast, countEventsUntil } from './castPlayback.ts'

/**
 * Terminal screen that shows a recording at a given time. The content comes from untrusted programs, so the screen
 * sends no replies and opens no links.
 */
export type CastScreen = {
  /**
   * Shows the screen at a time. Seeking forward replays the events in between; seeking backward restarts from the
   * beginning.
   */
  showAt(atMs: number): void
  close(): void
}

const fontSize = 13
const scrollback = 5_000
/** Dark in every window theme, because programs choose their colors for a dark background. */
const theme = { background: '#101114', foreground: '#d7dae0', cursor: '#d7dae0', selectionBackground: '#3a4150' }

export function createCastScreen(host: HTMLElement, cast: Cast): CastScreen {
  const { cols, rows, events } = cast
  const terminal = new Terminal({
    ...{ cols, rows, scrollback, fontSize, theme, disableStdin: true, cursorBlink: false, allowProposedApi: true },
    fontFamily: getComputedStyle(host).fontFamily,
    minimumContrastRatio: 4.5,
    linkHandler: { activate: () => {} },
  })
  limitWidths(terminal)
  limitTerminal(terminal)
  terminal.open(host)
  let position = 0

  const write = (text: string): void => {
    const step = computeChunkBytes(terminal)
    for (let at = 0; at < text.length; at += step) terminal.write(text.slice(at, at + step))
  }
  return {
    showAt(atMs) {
      const until = countEventsUntil(cast, atMs)
      if (until < position) {
        position = 0
        // Queued after pending writes.
        terminal.write('', () => {
          terminal.reset()
          terminal.resize(cols, rows)
        })
      }
      for (const event of events.slice(position, until)) {
        if (event.kind === 'output') write(event.text)
        else terminal.write('', () => terminal.resize(event.cols, event.rows))
      }
      position = until
    },
    close: () => terminal.dispose(),
  }
}
