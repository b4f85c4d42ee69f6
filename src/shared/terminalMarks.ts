import { z } from 'zod'
import { emitter } from './emitter.ts'
import { type LineAnchor, lineAnchors } from './lineAnchors.ts'

/**
 * Where commands begin and end in a terminal, as a shell tells with OSC 133: `A` before its prompt, `B` behind it, `C` when
 * the command starts, `D;<exit code>` when it has ended. The window and the host's screen follow the same output with this;
 * a new viewer is given beside the host's snapshot what it cannot have heard, never in the output, which any program can print.
 *
 * A shell that knows the terminal's key ends each mark with it (`…;steward=<key>`). From the first of these on, marks without
 * the key are not the shell's but of what it shows, and are left out.
 *
 * @see https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md
 */
export type CommandMark = {
  readonly id: number
  /** Of its prompt. A line counts from the first that is kept. */
  readonly line: number
  /** As it stood on the screen; empty until it runs. */
  readonly command: string
  /**
   * Whether the shell itself sent the mark. Printed files cannot forge it, but programs that read the shell's memory
   * can.
   */
  readonly isKnown: boolean
  readonly state: 'prompt' | 'running' | 'done'
  /** Null when the shell did not tell. */
  readonly exitCode: number | null
  /** Where its output begins, and what stands behind it. */
  readonly output: { readonly from: Place; readonly to: Place } | undefined
}

type Place = { readonly line: number; readonly column: number }

/** Key in the request for a terminal. The runtime moves it from the environment to a pipe. */
export const marksKeyVariable = 'STEWARD_MARKS_KEY'
/** Names the descriptor from which the program of a terminal can read its key, once. */
export const marksDescriptorVariable = 'STEWARD_MARKS_FD'

export type TerminalMarks = {
  /** Oldest first; those whose prompt has scrolled out for good are gone. */
  list(): CommandMark[]
  /** What gives another terminal, with the cursor at the same place, the same marks. */
  carried(): CarriedMark[]
  /** Takes the marks of another terminal in place of its own. */
  take(carried: readonly CarriedMark[]): void
  /** From now on the shell's own marks are told by this key. */
  use(key: string): void
  /** Called after each change that the shell told. */
  onChange(listener: () => void): () => void
  outputOf(mark: CommandMark): string
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

/** Of xterm.js, with a window or headless. */
export type MarkedTerminal = {
  readonly parser: { registerOscHandler(id: number, handler: (data: string) => boolean): Disposable }
  readonly buffer: { readonly active: Buffer; readonly normal: Buffer }
}

type Held = {
  id: number
  prompt: LineAnchor
  /** Behind the prompt: where the command is typed. */
  input: { marker: LineAnchor; column: number } | undefined
  command: string
  isKnown: boolean
  output: LineAnchor | undefined
  end: { marker: LineAnchor; column: number } | undefined
  exitCode: number | null
}

const marksKept = 500
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

export function terminalMarks(terminal: MarkedTerminal): TerminalMarks {
  const changes = emitter()
  let held: Held[] = []
  let lastId = 0
  let field: string | undefined
  /** The shell has shown that it knows the key. */
  let isKeyed = false

  const anchors = lineAnchors(terminal)
  const here = (): LineAnchor | undefined => {
    const { baseY, cursorY } = terminal.buffer.active
    return anchors.add(baseY + cursorY)
  }
  const last = (): Held | undefined => held.at(-1)

  function add(part: Omit<Held, 'id'>): void {
    lastId += 1
    held.push({ id: lastId, ...part })
    for (const old of held.splice(0, Math.max(0, held.length - marksKept))) forget(old)
  }

  function prompt(): void {
    const present = last()
    // A prompt drawn again takes the place of the one before it.
    if (present && present.output === undefined) forget(...held.splice(-1))
    const marker = here()
    if (!marker) return
    add({
      prompt: marker,
      input: undefined,
      command: '',
      isKnown: false,
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

  function started(): void {
    const present = last()
    if (present === undefined || present.output !== undefined) return
    const { cursorX, cursorY, baseY } = terminal.buffer.active
    if (present.input && !present.input.marker.isDisposed) {
      const from = { line: present.input.marker.line, column: present.input.column }
      const lines = linesBetween(terminal.buffer.active, from, { line: baseY + cursorY, column: cursorX })
      present.command = lines.map(withoutContinuation).join('\n').trim().slice(0, commandUnits)
    }
    present.isKnown = isKeyed
    present.output = here()
  }

  function ended(code: string | undefined): void {
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
      // What came before may have been anybody's.
      forget(...held.splice(0))
      isKeyed = true
    }
    // Programs that fill the screen have no commands.
    if (terminal.buffer.active.type === 'alternate') return true
    if (kind === 'A') prompt()
    else if (kind === 'B') input()
    else if (kind === 'C') started()
    else if (kind === 'D') ended(fields[0])
    changes.emit()
    return true
  }

  function take(carried: readonly CarriedMark[]): void {
    const { baseY, cursorY } = terminal.buffer.active
    const at = (offset: number) => {
      const line = baseY + cursorY + offset
      return line < 0 ? undefined : anchors.add(line)
    }
    forget(...held.splice(0))
    isKeyed = carried.some(({ known }) => known)
    for (const { line, command, known, output, end, exitCode } of carried.slice(-marksKept)) {
      const marker = at(line)
      const endMarker = end && at(end[0])
      if (!marker) continue
      add({
        prompt: marker,
        input: undefined,
        command: command.slice(0, commandUnits),
        isKnown: known,
        output: output === null ? undefined : at(output),
        end: end && endMarker ? { marker: endMarker, column: end[1] } : undefined,
        exitCode,
      })
    }
    changes.emit()
  }

  function alive(): Held[] {
    const gone = held.filter(({ prompt }) => prompt.isDisposed)
    if (gone.length > 0) {
      forget(...gone)
      held = held.filter(({ prompt }) => !prompt.isDisposed)
    }
    return held
  }

  terminal.parser.registerOscHandler(shellMark, follow)

  return {
    list: () =>
      alive().map(({ id, prompt, command, isKnown, output, end, exitCode }) => {
        const { baseY, cursorY, cursorX } = terminal.buffer.normal
        const cursor = { line: baseY + cursorY, column: cursorX }
        const to = end && !end.marker.isDisposed ? { line: end.marker.line, column: end.column } : cursor
        return {
          id,
          line: prompt.line,
          command,
          isKnown,
          state: end ? 'done' : output ? 'running' : 'prompt',
          exitCode,
          output: output && !output.isDisposed ? { from: { line: output.line, column: 0 }, to } : undefined,
        }
      }),
    carried() {
      const { baseY, cursorY } = terminal.buffer.normal
      const cursor = baseY + cursorY
      const offset = (marker: LineAnchor | undefined) => (marker && !marker.isDisposed ? marker.line - cursor : null)
      return alive().map(({ prompt, command, isKnown, output, end, exitCode }) => {
        const endOffset = offset(end?.marker)
        return {
          line: prompt.line - cursor,
          command,
          known: isKnown,
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
    outputOf({ output }) {
      if (!output) return ''
      return linesBetween(terminal.buffer.normal, output.from, output.to)
        .map((line) => line.trimEnd())
        .join('\n')
        .replace(/\n+$/, '')
    },
  }
}

function forget(...marks: readonly Held[]): void {
  for (const { prompt, input, output, end } of marks) {
    for (const marker of [prompt, input?.marker, output, end?.marker]) marker?.dispose()
  }
}

/** What stands from one place up to another; rows of one wrapped line are one. */
function linesBetween(buffer: Buffer, from: Place, to: Place): string[] {
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
function withoutContinuation(line: string, place: number): string {
  return place > 0 && line.startsWith('> ') ? line.slice(2) : line
}
