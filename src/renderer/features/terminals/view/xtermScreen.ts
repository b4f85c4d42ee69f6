import type { Terminal } from '@xterm/xterm'
import type { TerminalScreen } from '../stream/terminalScreen.ts'

/** Of xterm.js, with a window or headless. */
export type ScreenTerminal = Pick<Terminal, 'write' | 'reset' | 'resize' | 'scrollLines' | 'buffer'>

/** What comes between is drawn at once (mode 2026), however long it takes to parse. */
const together = { begin: '\u001b[?2026h', end: '\u001b[?2026l' }

/**
 * xterm.js parses later what is written now, while `reset` and `resize` would act at once: both wait in its own queue,
 * behind the output they follow.
 */
export function xtermScreen(terminal: ScreenTerminal): TerminalScreen {
  const inTurn = (action: () => void) => terminal.write('', action)
  return {
    redraw({ cols, rows }, snapshot) {
      let linesUp = 0
      inTurn(() => {
        const { baseY, viewportY } = terminal.buffer.active
        linesUp = baseY - viewportY
        terminal.reset()
        terminal.resize(cols, rows)
      })
      terminal.write(together.begin)
      // Who reads further up goes on reading there.
      terminal.write(snapshot, () => void (linesUp > 0 && terminal.scrollLines(-linesUp)))
      terminal.write(together.end)
    },
    write: (output, parsed) => terminal.write(output, parsed),
    resize: ({ cols, rows }) => inTurn(() => terminal.resize(cols, rows)),
  }
}
