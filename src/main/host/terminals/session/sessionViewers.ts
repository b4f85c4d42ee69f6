import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { ServerStreamMessage } from '#shared/contract/terminalStream.ts'
import type { ScreenReply } from '../emulator/screenQuery.ts'
import type { OutputLog } from './outputLog.ts'
import type { SessionMeta } from './sessionMeta.ts'
import type { SessionScreen } from './sessionScreen.ts'
import { createViewer, type Viewer, type ViewerStream } from './viewer.ts'

/**
 * `marks`: whether to send command marks with the snapshot. `skip`: whether to send the current screen instead of a
 * flood.
 */
export type ViewerChoices = { scrollback: number; marks?: boolean | undefined; skip?: boolean | undefined }

export type SessionViewers = {
  attach(stream: ViewerStream, choices: ViewerChoices): Viewer
  /** Sends a message to all viewers, after all current output. */
  tell(message: ServerStreamMessage): void
  pump(): void
  /** Cursors from which output must be retained. */
  listCursors(): number[]
  close(): void
}

type ViewersOptions = {
  source: OutputLog
  screen: SessionScreen
  meta: SessionMeta
  stallMs: number | undefined
  /** Called when a viewer has advanced, so that older output can be released. */
  onMoved: () => void
  log: Log
}

export function createSessionViewers(options: ViewersOptions): SessionViewers {
  const { source, screen, meta, stallMs, onMoved, log } = options
  const viewers = new Set<Viewer>()

  /** Sends the screen, then subsequent output. */
  const begin = (viewer: Viewer, { scrollback, marks }: ViewerChoices): void => {
    let first = createAttachedMessage(meta, 0)
    screen
      .ask({ kind: 'snapshot', scrollback }, (cursor) => {
        viewer.await(cursor)
        first = createAttachedMessage(meta, cursor)
        const { state, exitCode, signal } = meta.record
        if (state === 'exited') viewer.mark({ type: 'exited', exit_code: exitCode, signal })
      })
      .then(
        (drawn) => viewer.begin(first, drawn.bytes, marks ? createMarksMessage(meta, drawn) : undefined),
        (error: unknown) => {
          log.warn('failed to draw the screen for a viewer', { terminal: meta.record.id, error })
          viewer.end(error instanceof AppError ? error : new AppError('internal/unexpected', 'The screen failed.'))
        },
      )
  }

  return {
    attach(stream, choices) {
      const { scrollback, skip } = choices
      const viewer = createViewer({
        source,
        stream,
        ...(stallMs !== undefined && { stallMs }),
        present: skip ? (isOver) => screen.present(isOver ? scrollback : 0) : undefined,
        onMoved,
        onEnded: () => viewers.delete(viewer),
      })
      viewers.add(viewer)
      begin(viewer, choices)
      return viewer
    },
    tell(message) {
      for (const viewer of viewers) viewer.mark(message)
    },
    pump() {
      for (const viewer of viewers) viewer.pump()
    },
    listCursors: () => [...viewers].map((it) => it.next ?? source.end),
    close() {
      for (const viewer of viewers) viewer.close()
      viewers.clear()
    },
  }
}

function createAttachedMessage({ record }: SessionMeta, cursor: number): ServerStreamMessage {
  const { id, cols, rows, state, title } = record
  return { type: 'attached', session_id: id, cols, rows, state, cursor, title }
}

function createMarksMessage({ marksKey }: SessionMeta, { marks }: ScreenReply): ServerStreamMessage {
  return { type: 'marks', key: marksKey ?? null, at: marks?.at ?? 0, marks: marks?.marks ?? [] }
}
