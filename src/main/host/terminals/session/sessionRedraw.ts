import { countOrphaned } from '../emulator/wholeCharacters.ts'
import type { OutputHistory } from './outputHistory.ts'
import type { Redraw } from './screenFeed.ts'
import type { SizeChange, TerminalFiles } from './terminalFiles.ts'

type RedrawOptions = {
  history: OutputHistory
  sizes: readonly SizeChange[]
  files: TerminalFiles
  /** Cursor at which a screen got stuck. */
  drawnFrom: number | undefined
}

/** Displayed in place of omitted output. */
const stuckNotice =
  '\x1b[7m Steward cleared this screen: output before this line kept it busy for too long. \x1b[0m\r\n'

const chunkBytes = 1024 * 1024
const original: Omit<SizeChange, 'cursor'> = { cols: 80, rows: 24 }

/** Redraws a terminal on a new screen, from its saved last screen or from the stored output. */
export async function redrawSession(
  { history, sizes, files, drawnFrom }: RedrawOptions,
  screen: Redraw,
  until: number,
): Promise<void> {
  const drawn = await files.readScreen()
  if (drawn) {
    screen.open(toSize(sizes.at(-1)))
    const { at = 0, marks = [] } = drawn.marks ?? {}
    if (at > 0) screen.output(drawn.bytes.slice(0, at))
    screen.takesMarks(marks)
    screen.output(drawn.bytes.slice(at))
    return
  }
  const changes = [...sizes]
  const start = Math.max(history.start, drawnFrom ?? 0)
  let cursor = start
  let size = changes.shift()
  for (let [next] = changes; next && next.cursor <= cursor; [next] = changes) size = changes.shift()
  screen.open(toSize(size))
  if (drawnFrom !== undefined) screen.output(new TextEncoder().encode(stuckNotice))
  while (cursor < until) {
    const limit = Math.min(until, changes[0]?.cursor ?? until, cursor + chunkBytes)
    const { start: at, bytes } = await history.read(cursor, limit - cursor)
    // After rotation, the first stored byte may be in the middle of a character.
    const clean = at > 0 && cursor === start ? bytes.subarray(countOrphaned(bytes)) : bytes
    screen.output(new Uint8Array(clean))
    if (at + bytes.length <= cursor) break
    cursor = at + bytes.length
    for (let [next] = changes; next && next.cursor <= cursor; [next] = changes) {
      changes.shift()
      screen.resize(toSize(next))
    }
  }
  for (const next of changes) screen.resize(toSize(next))
}

function toSize(change: SizeChange | undefined): { cols: number; rows: number } {
  const { cols, rows } = change ?? original
  return { cols, rows }
}
