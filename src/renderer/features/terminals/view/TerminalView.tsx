import '@xterm/xterm/css/xterm.css'
import { useEffect, useRef, useState } from 'react'
import { useCommands } from '../../../ui/commands/commandRegistry.tsx'
import { thisKeyboard } from '../../../ui/commands/shortcuts.ts'
import { ContextMenu } from '../../../ui/Menu.tsx'
import { notify } from '../../../ui/toast.tsx'
import type { TerminalEnd } from '../stream/streamState.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { StreamConnector } from '../stream/terminalStream.ts'
import { EndBar } from './EndBar.tsx'
import { LinkHintNote } from './LinkHintNote.tsx'
import { SearchBar } from './SearchBar.tsx'
import { StreamBar } from './StreamBar.tsx'
import { terminalActions } from './terminalActions.ts'
import { useTerminalSession } from './useTerminalSession.ts'
import type { WebglLeases } from './webglLeases.ts'

export type TerminalViewProps = {
  terminalId: string
  /** Read aloud: `bash in build-box`. */
  label: string
  connect: StreamConnector
  visible?: boolean
  /** How it ended, where that is known without its stream. */
  end?: TerminalEnd | undefined
  /** Whoever draws many terminals shares one for all; alone it needs none. */
  webgl?: WebglLeases
  /** Counts up each time the connection is known to be good again: no need to wait for the next attempt. */
  connectionEpoch?: number
  /** It takes the focus as soon as it can, and says so. */
  wantsFocus?: boolean
  onFocusTaken?: () => void
  onTitle?: (title: string | null) => void
  onHiddenOutput?: () => void
  onRoom?: (size: TerminalSize) => void
  /** Runs the same command again; absent where that cannot be. */
  onAgain?: (() => void) | undefined
  onClose?: (() => void) | undefined
}

/** One terminal with its search, its menus and what there is to say about its connection and its end. */
export function TerminalView({
  terminalId,
  label,
  connect,
  visible = true,
  end,
  webgl,
  connectionEpoch = 0,
  wantsFocus = false,
  onFocusTaken,
  onTitle,
  onHiddenOutput,
  onRoom,
  onAgain,
  onClose,
}: TerminalViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const [searching, setSearching] = useState(false)
  const { session, state, linkHint } = useTerminalSession(host, {
    terminalId,
    label,
    connect,
    visible,
    webgl,
    on: {
      title: (title) => onTitle?.(title),
      hiddenOutput: () => onHiddenOutput?.(),
      room: (size) => onRoom?.(size),
      refused: ({ error }) => notify.told('The terminal did not take that.', { hint: error }),
      key: (action) => actions.key(action),
    },
  })
  const actions = terminalActions({ session, apple: thisKeyboard().apple, onSearch: () => setSearching(true) })
  useCommands(visible ? actions.commands : [])

  useEffect(() => {
    if (connectionEpoch > 0) session?.retryNow()
  }, [session, connectionEpoch])

  useEffect(() => {
    if (!visible || !wantsFocus || !session) return
    session.terminal.focus()
    onFocusTaken?.()
  }, [visible, wantsFocus, session, onFocusTaken])

  const ended = state.phase === 'ended' ? state.end : end
  return (
    <div data-terminal={terminalId} data-phase={state.phase} className="relative flex size-full flex-col bg-canvas">
      {searching && session && (
        <SearchBar
          search={session.search}
          onClose={() => {
            setSearching(false)
            session.terminal.focus()
          }}
        />
      )}
      <ContextMenu items={actions.menu}>
        <div data-keys="terminal" className="relative min-h-0 flex-1 pt-1.5 pl-3">
          <div ref={host} className="size-full overflow-hidden bg-canvas font-mono text-text" />
        </div>
      </ContextMenu>
      <StreamBar state={state} onRetry={() => session?.retryNow()} />
      {ended && <EndBar end={ended} onAgain={onAgain} onClose={onClose} />}
      {linkHint && <LinkHintNote hint={linkHint} apple={thisKeyboard().apple} />}
    </div>
  )
}
