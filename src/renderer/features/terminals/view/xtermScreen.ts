import type { Terminal } from '@xterm/xterm'
import { computeChunkBytes } from '#shared/terminalBounds.ts'
import type { SnapshotMarks, TerminalScreen } from '../stream/terminalScreen.ts'

/** Maximum number of bytes queued in xterm.js, which parses them even if a redraw makes them obsolete. */
const maxQueuedBytes = 16 * 1024

/** Output from offset `at`, or an action that follows it. */
type Waiting = { output: Uint8Array; at: number; parsed: () => void } | { act: () => void }

/** Subset of xterm.js, in a window or headless. */
export type ScreenTerminal = Pick<Terminal, 'write' | 'reset' | 'resize' | 'scrollLines' | 'buffer' | 'cols' | 'rows'>

/** `close` must be called before the terminal is disposed, so that queued writes of xterm.js have no effect. */
export type ClosableScreen = TerminalScreen & { close(): void }

/** Synchronized output (mode 2026), so that the content is rendered in one frame regardless of parsing time. */
const together = { begin: '\u001b[?2026h', end: '\u001b[?2026l' }

/**
 * Creates a screen on xterm.js. Writes are parsed asynchronously, but `reset` and `resize` act immediately, so they are
 * queued behind the output that precedes them.
 */
export function createXtermScreen(
  terminal: ScreenTerminal,
  onMarks: (marks: SnapshotMarks) => void = () => {},
): ClosableScreen {
  let closed = false
  const inTurn = (action: () => void) =>
    terminal.write('', () => {
      if (!closed) action()
    })
  /** Output not yet passed to xterm.js, which would parse it unconditionally. */
  let waiting: Waiting[] = []
  let queuedBytes = 0

  const giveMore = (): void => {
    while (!closed && queuedBytes < maxQueuedBytes) {
      const [first] = waiting
      if (!first) return
      if ('act' in first) {
        waiting.shift()
        first.act()
        continue
      }
      const piece = first.output.subarray(first.at, first.at + computeChunkBytes(terminal))
      first.at += piece.length
      const isLast = first.at === first.output.length
      if (isLast) waiting.shift()
      queuedBytes += piece.length
      terminal.write(piece, () => {
        queuedBytes -= piece.length
        if (isLast) first.parsed()
        giveMore()
      })
    }
  }
  const behindOutput = (act: () => void): void => {
    waiting.push({ act })
    giveMore()
  }

  /** xterm.js yields only between writes, so output is split into chunks that do not block the window for long. */
  const write = (output: Uint8Array, parsed: () => void, size: { cols: number; rows: number } = terminal) => {
    const step = computeChunkBytes(size)
    let at = 0
    for (; at + step < output.length; at += step) terminal.write(output.subarray(at, at + step))
    terminal.write(output.subarray(at), parsed)
  }
  return {
    redraw({ cols, rows }, snapshot, marks, drawn) {
      const dropped = waiting
      waiting = []
      for (const it of dropped) if ('parsed' in it) it.parsed()
      let linesUp = 0
      inTurn(() => {
        const { baseY, viewportY } = terminal.buffer.active
        linesUp = baseY - viewportY
        terminal.reset()
        terminal.resize(cols, rows)
      })
      terminal.write(together.begin)
      // Preserves the user's scroll position.
      const at = marks?.at ?? 0
      write(snapshot.subarray(0, at), () => void (!closed && marks && onMarks(marks)), { cols, rows })
      write(snapshot.subarray(at), () => void (!closed && linesUp > 0 && terminal.scrollLines(-linesUp)), {
        cols,
        rows,
      })
      terminal.write(together.end, drawn)
    },
    write(output, parsed) {
      waiting.push({ output, at: 0, parsed })
      giveMore()
    },
    close() {
      closed = true
    },
    resize: ({ cols, rows }) => behindOutput(() => inTurn(() => terminal.resize(cols, rows))),
  }
}
