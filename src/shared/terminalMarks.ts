import { z } from 'zod'
import { createEmitter } from './emitter.ts'
import { createLineAnchors, type LineAnchor } from './lineAnchors.ts'

/**
 * Start and end of commands in a terminal, which a shell marks by OSC 133: `A` before its prompt, `B` after it, `C` when
 * the command starts, `D;<exit code>` when it ends. The window and the screen of the host both parse them. A new viewer
 * receives earlier marks beside the snapshot, never inside the output, which any program can print.
 *
 * A shell with the key of the terminal appends it to each mark (`…;steward=<key>`). After the first such mark, marks without
 * the key are output of other programs, and are ignored.
 *
 * @see https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md
 */
export type CommandMark = {
  readonly id: number
  /** Line of the prompt, counted from the first line in the buffer. */
  readonly line: number
  /** Command text as displayed. Empty until the command runs. */
  readonly command: string
  /**
   * Whether the shell itself sent the mark. Printed files cannot forge it, but programs that read the shell's memory
   * can.
   */
  readonly isVerified: boolean
  readonly state: 'prompt' | 'running' | 'done'
  /** Null when the shell did not tell. */
  readonly exitCode: number | null
  /** Range of the output: start, and end (exclusive). */
  readonly output: { readonly from: Position; readonly to: Position } | undefined
}

type Position = { readonly line: number; readonly column: number }

/** Key in the request for a terminal. The runtime moves it from the environment to a pipe. */
export const marksKeyVariable = 'STEWARD_MARKS_KEY'
/** Names the descriptor from which the program of a terminal can read its key, once. */
export const marksDescriptorVariable = 'STEWARD_MARKS_FD'

export type TerminalMarks = {
  /** Oldest first; those whose prompt has scrolled out for good are gone. */
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

type Disposable = { dispose(): void }
type Line = { readonly isWrapped: boolean; translateToString(trimRight?: boolean, from?: number, to?: number): string }
type Buffer = {
  readonly type: 'normal' | 'alternate'
  readonly baseY: number
  readonly cursorY: number
  readonly cursorX: number
  getLine(line: number): Line | undefined
}

/** Subset of the xterm.js API, with a window or headless. */
export type MarkedTerminal = {
  readonly parser: { registerOscHandler(id: number, handler: (data: string) => boolean): Disposable }
  readonly buffer: { readonly active: Buffer; readonly normal: Buffer }
}

type Mark = {
  id: number
  prompt: LineAnchor
  /** Behind the prompt: where the command is typed. */
  input: { marker: LineAnchor; column: number } | undefined
  command: string
  isVerified: boolean
  output: LineAnchor | undefined
  end: { marker: LineAnchor; column: number } | undefined
  exitCode: number | null
}

const maxMarks = 500
const commandUnits = 4_096
const shellMark = 133
const keyField = 'steward='

/** Lines count from the cursor's, so that they mean the same on another terminal. */
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
  let marks: Mark[] = []
  let lastId = 0
  let field: string | undefined
  /** The shell has shown that it knows the key. */
  let isKeyed = false

  const anchors = createLineAnchors(terminal)
  const here = (): LineAnchor | undefined => {
    const { baseY, cursorY } = terminal.buffer.active
    return anchors.add(baseY + cursorY)
  }
  const last = (): Mark | undefined => marks.at(-1)

  function add(part: Omit<Mark, 'id'>): void {
    lastId += 1
    marks.push({ id: lastId, ...part })
    for (const old of marks.splice(0, Math.max(0, marks.length - maxMarks))) forget(old)
  }

  function prompt(): void {
    const present = last()
    // A prompt drawn again takes the place of the one before it.
    if (present && present.output === undefined) forget(...marks.splice(-1))
    const marker = here()
    if (!marker) return
    add({
      prompt: marker,
      input: undefined,
      command: '',
      isVerified: false,
      output: undefined,
      end: undefined,
      exitCode: null,
    })
  }

  function input(): void {
    const present = last()
    const marker = here()
    if (present && marker && present.output === undefined) {
      present.input = { marker, column: terminal.buffer.active.cursorX }
    } else marker?.dispose()
  }

  function onStart(): void {
    const present = last()
    if (present === undefined || present.output !== undefined) return
    const { cursorX, cursorY, baseY } = terminal.buffer.active
    if (present.input && !present.input.marker.isDisposed) {
      const from = { line: present.input.marker.line, column: present.input.column }
      const lines = linesBetween(terminal.buffer.active, from, { line: baseY + cursorY, column: cursorX })
      present.command = lines.map(withoutContinuation).join('\n').trim().slice(0, commandUnits)
    }
    present.isVerified = isKeyed
    present.output = here()
  }

  function onEnd(code: string | undefined): void {
    const present = last()
    const marker = here()
    if (!present?.output || present.end || !marker) {
      marker?.dispose()
      return
    }
    present.end = { marker, column: terminal.buffer.active.cursorX }
    present.exitCode = code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : null
  }

  function follow(data: string): boolean {
    const [kind, ...fields] = data.split(';')
    const hasKey = field !== undefined && fields.at(-1) === field
    if (isKeyed && !hasKey) return true
    if (hasKey && !isKeyed) {
      // Earlier marks may come from any program.
      forget(...marks.splice(0))
      isKeyed = true
    }
    // Programs that fill the screen have no commands.
    if (terminal.buffer.active.type === 'alternate') return true
    if (kind === 'A') prompt()
    else if (kind === 'B') input()
    else if (kind === 'C') onStart()
    else if (kind === 'D') onEnd(fields[0])
    changes.emit()
    return true
  }

  function take(carried: readonly CarriedMark[]): void {
    const { baseY, cursorY } = terminal.buffer.active
    const toPosition = (offset: number) => {
      const line = baseY + cursorY + offset
      return line < 0 ? undefined : anchors.add(line)
    }
    forget(...marks.splice(0))
    isKeyed = carried.some(({ known: isVerified }) => isVerified)
    for (const { line, command, known: isVerified, output, end, exitCode } of carried.slice(-maxMarks)) {
      const marker = toPosition(line)
      const endMarker = end && toPosition(end[0])
      if (!marker) continue
      add({
        prompt: marker,
        input: undefined,
        command: command.slice(0, commandUnits),
        isVerified,
        output: output === null ? undefined : toPosition(output),
        end: end && endMarker ? { marker: endMarker, column: end[1] } : undefined,
        exitCode,
      })
    }
    changes.emit()
  }

  function alive(): Mark[] {
    const disposed = marks.filter(({ prompt }) => prompt.isDisposed)
    if (disposed.length > 0) {
      forget(...disposed)
      marks = marks.filter(({ prompt }) => !prompt.isDisposed)
    }
    return marks
  }

  terminal.parser.registerOscHandler(shellMark, follow)

  return {
    list: () =>
      alive().map(({ id, prompt, command, isVerified, output, end, exitCode }) => {
        const { baseY, cursorY, cursorX } = terminal.buffer.normal
        const cursor = { line: baseY + cursorY, column: cursorX }
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
      }),
    exportMarks() {
      const { baseY, cursorY } = terminal.buffer.normal
      const cursor = baseY + cursorY
      const offset = (marker: LineAnchor | undefined) => (marker && !marker.isDisposed ? marker.line - cursor : null)
      return alive().map(({ prompt, command, isVerified, output, end, exitCode }) => {
        const endOffset = offset(end?.marker)
        return {
          line: prompt.line - cursor,
          command,
          known: isVerified,
          output: offset(output),
          end: end && endOffset !== null ? [endOffset, end.column] : null,
          exitCode,
        }
      })
    },
    take,
    use(key) {
      field = `${keyField}${key}`
    },
    onChange: changes.subscribe,
    readOutput({ output }) {
      if (!output) return ''
      return linesBetween(terminal.buffer.normal, output.from, output.to)
        .map((line) => line.trimEnd())
        .join('\n')
        .replace(/\n+$/, '')
    },
  }
}

function forget(...marks: readonly Mark[]): void {
  for (const { prompt, input, output, end } of marks) {
    for (const marker of [prompt, input?.marker, output, end?.marker]) marker?.dispose()
  }
}

/** Reads the lines between two positions. Wrapped rows are joined. */
function linesBetween(buffer: Buffer, from: Position, to: Position): string[] {
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

/** A shell asks for the rest of a command with `> `. */
function withoutContinuation(line: string, column: number): string {
  return column > 0 && line.startsWith('> ') ? line.slice(2) : line
}
