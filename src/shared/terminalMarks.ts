import { z } from 'zod'
import { createEmitter } from './emitter.ts'
import { createLineAnchors, type LineAnchor } from './lineAnchors.ts'
import { createMarkList, type Mark, maxMarks } from './markList.ts'
import { createMarkRecorder, type MarkedTerminal, maxCommandLength, type Position, readLines } from './markRecorder.ts'

/**
 * Marks for the start and end of commands, which a shell sets with OSC 133: `A` before its prompt, `B` after it, `C`
 * when the command starts, `D;<exit code>` when it ends. The window and the host's screen both parse them. A new viewer
 * receives earlier marks separately from the snapshot, never in the output, because any program can print output. A
 * shell with the key of the terminal appends it to each mark (`…;steward=<key>`). After the first such mark, marks
 * without the key are output of other programs and are ignored.
 * @see https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md
 */
export type CommandMark = {
  readonly id: number
  /** Line of the prompt, counted from the first line in the buffer. */
  readonly line: number
  /** Displayed text of the command. Empty until the command runs. */
  readonly command: string
  /**
   * Whether the shell sent the mark. Printed files cannot forge it, but programs that can read the shell's memory can.
   */
  readonly isVerified: boolean
  readonly state: 'prompt' | 'running' | 'done'
  /** Null if the shell did not report it. */
  readonly exitCode: number | null
  /** Range of the output. The end is exclusive. */
  readonly output: { readonly from: Position; readonly to: Position } | undefined
}

/** Variable with the key in the request for a terminal. The runtime moves it from the environment to a pipe. */
export const marksKeyVariable = 'STEWARD_MARKS_KEY'
/** Variable with the file descriptor from which the shell can read its key, once. */
export const marksDescriptorVariable = 'STEWARD_MARKS_FD'

export type TerminalMarks = {
  /** Lists the marks, oldest first. Excludes marks whose prompt was trimmed from the scrollback. */
  list(): CommandMark[]
  /** Exports the marks for another terminal with the same cursor position. */
  exportMarks(): CarriedMark[]
  /** Replaces the marks with those of another terminal. */
  take(carried: readonly CarriedMark[]): void
  /** Sets the key that authenticates marks of the shell. */
  use(key: string): void
  /** Called after each change reported by the shell. */
  onChange(listener: () => void): () => void
  readOutput(mark: CommandMark): string
}

const shellMark = 133
const keyField = 'steward='

/** Mark with lines relative to the cursor, so that it can be imported into another terminal. */
export const CarriedMark = z.object({
  line: z.int(),
  command: z.string(),
  known: z.boolean(),
  output: z.int().nullable(),
  end: z.tuple([z.int(), z.int()]).nullable(),
  exitCode: z.int().nullable(),
})
export type CarriedMark = z.infer<typeof CarriedMark>

export function createTerminalMarks(terminal: MarkedTerminal): TerminalMarks {
  const changes = createEmitter()
  const anchors = createLineAnchors(terminal)
  const marks = createMarkList()
  const recorder = createMarkRecorder(terminal, { marks, anchors })
  let field: string | undefined
  /** Whether the shell has sent a mark with the key. */
  let isKeyed = false

  function follow(data: string): boolean {
    const [kind, ...fields] = data.split(';')
    const hasKey = field !== undefined && fields.at(-1) === field
    if (isKeyed && !hasKey) return true
    if (hasKey && !isKeyed) {
      // Earlier marks may be forged.
      marks.clear()
      isKeyed = true
    }
    // Full-screen programs have no commands.
    if (terminal.buffer.active.type === 'alternate') return true
    if (kind === 'A') recorder.startPrompt()
    else if (kind === 'B') recorder.startInput()
    else if (kind === 'C') recorder.startOutput(isKeyed)
    else if (kind === 'D') recorder.endOutput(fields[0])
    changes.emit()
    return true
  }

  function take(carried: readonly CarriedMark[]): void {
    const { baseY, cursorY } = terminal.buffer.active
    const toPosition = (offset: number) => {
      const line = baseY + cursorY + offset
      return line < 0 ? undefined : anchors.add(line)
    }
    marks.clear()
    isKeyed = carried.some(({ known: isVerified }) => isVerified)
    for (const { line, command, known: isVerified, output, end, exitCode } of carried.slice(-maxMarks)) {
      const marker = toPosition(line)
      const endMarker = end && toPosition(end[0])
      if (!marker) continue
      marks.add({
        prompt: marker,
        input: undefined,
        command: command.slice(0, maxCommandLength),
        isVerified,
        output: output === null ? undefined : toPosition(output),
        end: end && endMarker ? { marker: endMarker, column: end[1] } : undefined,
        exitCode,
      })
    }
    changes.emit()
  }

  terminal.parser.registerOscHandler(shellMark, follow)

  return {
    list: () => marks.list().map((mark) => toCommandMark(mark, terminal)),
    exportMarks() {
      const { baseY, cursorY } = terminal.buffer.normal
      return marks.list().map((mark) => toCarriedMark(mark, baseY + cursorY))
    },
    take,
    use(key) {
      field = `${keyField}${key}`
    },
    onChange: changes.subscribe,
    readOutput({ output }) {
      if (!output) return ''
      return readLines(terminal.buffer.normal, output.from, output.to)
        .map((line) => line.trimEnd())
        .join('\n')
        .replace(/\n+$/, '')
    },
  }
}

function toCommandMark(
  { id, prompt, command, isVerified, output, end, exitCode }: Mark,
  { buffer: { normal } }: MarkedTerminal,
): CommandMark {
  const cursor = { line: normal.baseY + normal.cursorY, column: normal.cursorX }
  const to = end && !end.marker.isDisposed ? { line: end.marker.line, column: end.column } : cursor
  return {
    id,
    line: prompt.line,
    command,
    isVerified,
    state: end ? 'done' : output ? 'running' : 'prompt',
    exitCode,
    output: output && !output.isDisposed ? { from: { line: output.line, column: 0 }, to } : undefined,
  }
}

function toCarriedMark({ prompt, command, isVerified, output, end, exitCode }: Mark, cursorLine: number): CarriedMark {
  const toOffset = (marker: LineAnchor | undefined) => (marker && !marker.isDisposed ? marker.line - cursorLine : null)
  const endOffset = toOffset(end?.marker)
  return {
    line: prompt.line - cursorLine,
    command,
    known: isVerified,
    output: toOffset(output),
    end: end && endOffset !== null ? [endOffset, end.column] : null,
    exitCode,
  }
}
