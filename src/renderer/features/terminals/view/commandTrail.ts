import type { Terminal } from '@xterm/xterm'
import { type CarriedMark, type CommandMark, createTerminalMarks } from '#shared/terminalMarks.ts'
import { createObservable, type Observable } from './observable.ts'

/** A command whose prompt is in view, in which row of the view. */
export type VisibleCommand = CommandMark & { row: number; isChosen: boolean }

/** The commands of a shell that marks them, and the person's way through them. */
export type CommandTrail = {
  readonly visible: Observable<readonly VisibleCommand[]>
  /** Whether there is a command to go to, and no program that fills the screen and may use the keys itself. */
  canJump(): boolean
  jump(way: 'previous' | 'next'): void
  /** Adds the marks of a snapshot that was drawn up to them. */
  take(marks: { key: string | null; marks: readonly CarriedMark[] }): void
  /** The one jumped to, else the newest that ran. */
  present(): CommandMark | undefined
  outputOf(command: CommandMark): string
  /** The shell waits for a command. */
  isWaiting(): boolean
  /** Whether the shell has reported a command or prompt. */
  isMarked(): boolean
  /** The command that has not ended yet. */
  running(): CommandMark | undefined
  dispose(): void
}

type TrailTerminal = Pick<
  Terminal,
  'parser' | 'buffer' | 'rows' | 'registerMarker' | 'scrollToLine' | 'scrollToBottom' | 'onWriteParsed' | 'onResize'
> & { onRender?: Terminal['onRender'] }

export function createCommandTrail(
  terminal: TrailTerminal,
  onInput: (listener: () => void) => () => void,
): CommandTrail {
  const marks = createTerminalMarks(terminal)
  const visible = createObservable<readonly VisibleCommand[]>([])
  let chosenId: number | undefined
  const ran = () => marks.list().filter(({ state }) => state !== 'prompt')
  const chosen = () => ran().find(({ id }) => id === chosenId)

  function look(): void {
    const next = inView()
    // Most output changes nothing here, so the view is updated only on a difference.
    if (JSON.stringify(next) !== JSON.stringify(visible.now)) visible.set(next)
  }

  function inView(): readonly VisibleCommand[] {
    const { active } = terminal.buffer
    if (active.type === 'alternate') return []
    return ran()
      .map((mark) => ({ ...mark, row: mark.line - active.viewportY, isChosen: mark.id === chosenId }))
      .filter(({ row }) => row >= 0 && row < terminal.rows)
  }

  function choose(command: CommandMark | undefined): void {
    chosenId = command?.id
    if (command) terminal.scrollToLine(command.line)
    else terminal.scrollToBottom()
    look()
  }

  const parts = [
    // Once a frame, however much comes; without a window after each write.
    terminal.onRender ? terminal.onRender(look) : terminal.onWriteParsed(look),
    terminal.onResize(look),
    {
      dispose: onInput(() => {
        chosenId = undefined
        look()
      }),
    },
  ]

  return {
    visible,
    canJump: () => terminal.buffer.active.type === 'normal' && ran().length > 0,
    jump(way) {
      const commands = ran()
      const place = chosen()?.line
      if (way === 'previous') {
        const before = commands.filter(({ line }) => place === undefined || line < place).at(-1)
        if (before) choose(before)
      } else if (place !== undefined) choose(commands.find(({ line }) => line > place))
    },
    take({ key, marks: carried }) {
      if (key !== null) marks.use(key)
      marks.take(carried)
    },
    present: () => chosen() ?? ran().at(-1),
    outputOf: marks.readOutput,
    isWaiting: () => marks.list().at(-1)?.state === 'prompt',
    isMarked: () => marks.list().length > 0,
    running: () => marks.list().findLast(({ state }) => state === 'running'),
    dispose: () => parts.forEach((part) => void part.dispose()),
  }
}
