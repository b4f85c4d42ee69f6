import type { HostResult } from '#shared/contract/hostIpc.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { SearchQuery } from '../emulator/parseSearchExpression.ts'
import type { ScreenQuery, ScreenReply } from '../emulator/screenQuery.ts'
import type { ScreenMatches } from '../emulator/screenSearch.ts'
import type { ScreenFeed } from './screenFeed.ts'
import type { SessionMeta } from './sessionMeta.ts'
import type { SavedScreen } from './terminalFiles.ts'
import type { ScreenSnapshot } from './viewer.ts'

export type ScreenRead = HostResult<'terminal.read'> & { bytes: Uint8Array }

/** Screen of one terminal. After the program has exited, it is redrawn on demand. */
export type SessionScreen = {
  /**
   * Queries the screen. Calls `posted` with a cursor before anything else happens. The reply reflects exactly the
   * output before that cursor.
   */
  ask(question: ScreenQuery, posted: (cursor: number) => void): Promise<ScreenReply>
  read(question: { full: boolean; format: 'text' | 'ansi' }): Promise<ScreenRead>
  search(query: SearchQuery): Promise<ScreenMatches>
  /** Draws the screen with `scrollback` lines above it, for a viewer that skips output. */
  present(scrollback: number): Promise<ScreenSnapshot>
  /** Draws the final screen for a later process. */
  drawLast(): Promise<SavedScreen>
  /** Schedules freeing the screen of an exited terminal, because these are rarely read. It is redrawn on demand. */
  rest(): void
  /** Stops scheduling timers. */
  release(): void
}

const screenIdleMs = 10_000

export function createSessionScreen(feed: ScreenFeed, meta: Pick<SessionMeta, 'record'>): SessionScreen {
  let released = false
  let idle: NodeJS.Timeout | undefined

  const rest = (): void => {
    clearTimeout(idle)
    if (!released && meta.record.state === 'exited') idle = setTimeout(() => feed.unload(), screenIdleMs).unref()
  }

  const ask: SessionScreen['ask'] = async (question, posted) => {
    clearTimeout(idle)
    try {
      return await feed.ask(question, posted)
    } finally {
      rest()
    }
  }

  return {
    ask,
    rest,
    async read({ full, format }) {
      let cursor = 0
      let terminal = meta.record
      const { bytes, cursorPosition } = await ask({ kind: 'read', full, format }, (posted) => {
        cursor = posted
        terminal = meta.record
      })
      return { terminal, cursor, cursorPosition, bytes }
    },
    async search(query) {
      const { matches } = await ask({ kind: 'search', query }, () => {})
      return matches ?? { matches: [], truncated: false, slow: false }
    },
    async present(scrollback) {
      let cursor = 0
      const { bytes, cols, rows, marks } = await ask({ kind: 'snapshot', scrollback }, (posted) => {
        cursor = posted
      })
      const message = { type: 'skipped', cols, rows, cursor, at: marks?.at ?? 0, marks: marks?.marks ?? [] } as const
      return { cursor, message, bytes }
    },
    drawLast: () => feed.ask({ kind: 'snapshot', scrollback: terminalLimits.scrollbackLines }, () => {}),
    release() {
      released = true
      clearTimeout(idle)
    },
  }
}
