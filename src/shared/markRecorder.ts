import type { LineAnchor, LineAnchors } from './lineAnchors.ts'
import type { MarkList } from './markList.ts'

export type Position = { readonly line: number; readonly column: number }

type Disposable = { dispose(): void }
type Line = { readonly isWrapped: boolean; translateToString(trimRight?: boolean, from?: number, to?: number): string }
type Buffer = {
  readonly type: 'normal' | 'alternate'
  readonly baseY: number
  readonly cursorY: number
  readonly cursorX: number
  getLine(line: number): Line | undefined
}

/** Subset of the API of xterm.js, for the browser and headless versions. */
export type MarkedTerminal = {
  readonly parser: { registerOscHandler(id: number, handler: (data: string) => boolean): Disposable }
  readonly buffer: { readonly active: Buffer; readonly normal: Buffer }
}

/** Records commands as marks at the cursor of the terminal. */
export type MarkRecorder = {
  startPrompt(): void
  startInput(): void
  startOutput(isVerified: boolean): void
  endOutput(exitCode: string | undefined): void
}

export const maxCommandLength = 4_096

export function createMarkRecorder(
  terminal: MarkedTerminal,
  { marks, anchors }: { marks: MarkList; anchors: LineAnchors },
): MarkRecorder {
  const anchorCursor = (): LineAnchor | undefined => {
    const { baseY, cursorY } = terminal.buffer.active
    return anchors.add(baseY + cursorY)
  }

  return {
    startPrompt() {
      const present = marks.last()
      // A redrawn prompt replaces the previous one.
      if (present && present.output === undefined) marks.removeLast()
      const marker = anchorCursor()
      if (!marker) return
      marks.add({
        prompt: marker,
        input: undefined,
        command: '',
        isVerified: false,
        output: undefined,
        end: undefined,
        exitCode: null,
      })
    },
    startInput() {
      const present = marks.last()
      const marker = anchorCursor()
      if (present && marker && present.output === undefined) {
        present.input = { marker, column: terminal.buffer.active.cursorX }
      } else marker?.dispose()
    },
    startOutput(isVerified) {
      const present = marks.last()
      if (present === undefined || present.output !== undefined) return
      const { cursorX, cursorY, baseY } = terminal.buffer.active
      if (present.input && !present.input.marker.isDisposed) {
        const from = { line: present.input.marker.line, column: present.input.column }
        const lines = readLines(terminal.buffer.active, from, { line: baseY + cursorY, column: cursorX })
        present.command = lines.map(stripContinuation).join('\n').trim().slice(0, maxCommandLength)
      }
      present.isVerified = isVerified
      present.output = anchorCursor()
    },
    endOutput(exitCode) {
      const present = marks.last()
      const marker = anchorCursor()
      if (!present?.output || present.end || !marker) {
        marker?.dispose()
        return
      }
      present.end = { marker, column: terminal.buffer.active.cursorX }
      present.exitCode = exitCode !== undefined && /^\d{1,3}$/.test(exitCode) ? Number(exitCode) : null
    },
  }
}

/** Reads the lines between two positions. Wrapped rows are joined. */
export function readLines(buffer: Buffer, from: Position, to: Position): string[] {
  const lines: string[] = []
  for (let row = from.line; row <= to.line; row += 1) {
    const line = buffer.getLine(row)
    if (!line || (row === to.line && to.column === 0)) break
    const wraps = row < to.line && buffer.getLine(row + 1)?.isWrapped === true
    const text = line.translateToString(
      !wraps,
      row === from.line ? from.column : 0,
      row === to.line ? to.column : undefined,
    )
    if (line.isWrapped && row > from.line && lines.length > 0) lines.push((lines.pop() ?? '') + text)
    else lines.push(text)
  }
  return lines
}

/** Strips the continuation prompt `> ` of a shell. */
function stripContinuation(line: string, column: number): string {
  return column > 0 && line.startsWith('> ') ? line.slice(2) : line
}
