import type { Terminal } from '@xterm/xterm'
import { type CarriedMark, type CommandMark, createTerminalMarks } from '#shared/terminalMarks.ts'
import { createObservable, type Observable } from './observable.ts'

/** Command whose prompt is visible, with its row in the view. */
export type VisibleCommand = CommandMark & { row: number; isChosen: boolean }

/** Commands of a shell that marks them, and navigation between them. */
export type CommandTrail = {
  readonly visible: Observable<readonly VisibleCommand[]>
  /** Whether there are commands to navigate to and no full-screen program that may use the keys. */
  canJump(): boolean
  jump(way: 'previous' | 'next'): void
  /** Adds the marks of a snapshot that was drawn up to their position. */
  take(marks: { key: string | null; marks: readonly CarriedMark[] }): void
  /** Returns the command navigated to, otherwise the latest one. */
  present(): CommandMark | undefined
  outputOf(command: CommandMark): string
  /** Whether the shell is waiting for a command. */
  isWaiting(): boolean
  /** Whether the shell has reported a command or prompt. */
  isMarked(): boolean
  /** Returns the command in progress. */
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
    // Most output does not change the visible commands, so listeners are notified only of changes.
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
    // At most once per frame. Headless terminals have no frames, so they update after each write.
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
