import '@xterm/xterm/css/xterm.css'
import { ArrowDown } from 'lucide-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { detectKeyboard } from '#renderer/ui/commands/shortcuts.ts'
import { ContextMenu } from '#renderer/ui/Menu.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { StreamState, TerminalEnd } from '../stream/streamState.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { StreamConnector } from '../stream/terminalStream.ts'
import { clearBell, createBell } from './bell.ts'
import { CommandGutter } from './CommandGutter.tsx'
import type { ClipboardAnswer, ClipboardRequests } from './clipboardRequests.ts'
import { EndBar } from './EndBar.tsx'
import { LinkTooltip } from './links/LinkTooltip.tsx'
import type { SandboxLinks } from './links/terminalLinks.ts'
import { type Observable, useObservable } from './observable.ts'
import { PasteBar } from './paste/PasteBar.tsx'
import { PasteDialog } from './paste/PasteDialog.tsx'
import { readPreferences } from './preferences/preferencesStore.ts'
import type { ScrollState } from './readingPlace.ts'
import { SearchBar } from './SearchBar.tsx'
import { createTerminalActions, type TerminalActions } from './terminalActions.ts'
import type { TerminalSession } from './terminalSession.ts'
import { useTerminalSession } from './useTerminalSession.ts'
import type { WebglLeases } from './webglLeases.ts'

type StreamBarProps = { state: StreamState; onRetry: () => void }

type NewOutputPillProps = { place: Observable<ScrollState>; onJump: () => void }

const maxPreviewLength = 600

type ClipboardAskProps = { requests: ClipboardRequests; onAnswered: () => void }

export type TerminalViewProps = {
  terminalId: string
  /** Accessible label, such as `bash in build-box`. */
  label: string
  connect: StreamConnector
  visible?: boolean
  /** Exit of the program, if known without a stream. */
  end?: TerminalEnd | undefined
  /** WebGL contexts shared by several terminals. A single view needs none. */
  webgl?: WebglLeases
  /** Handlers of links in the output. Omitted if the page shows only terminals. */
  inside?: SandboxLinks
  /** Incremented whenever the connection is known to be restored, which triggers an immediate reconnection attempt. */
  connectionEpoch?: number
  /** Whether to take the focus once mounted. `onFocused` is called afterwards. */
  wantsFocus?: boolean
  onFocused?: () => void
  onTitle?: (title: string | null) => void
  onHiddenOutput?: () => void
  onRoom?: (size: TerminalSize) => void
  /** Runs the same command again. Undefined if that is not possible. */
  onAgain?: (() => void) | undefined
  /** Runs all commands that ended with the sandbox again. */
  onAllAgain?: (() => void) | undefined
  onClose?: (() => void) | undefined
  /** Called with the session on mount, and with undefined on unmount. */
  onSession?: (session: TerminalSession | undefined) => void
  /** Called with input that the user typed, pasted or caused with the mouse. */
  onTyped?: (text: string) => void
}

export function TerminalView({
  terminalId,
  label,
  connect,
  visible = true,
  end,
  webgl,
  inside,
  connectionEpoch = 0,
  wantsFocus = false,
  onFocused,
  onTitle,
  onHiddenOutput,
  onRoom,
  onAgain,
  onAllAgain,
  onClose,
  onSession,
  onTyped,
}: TerminalViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const [searching, setSearching] = useState(false)
  const called = useEffectEvent(() => label)
  const [ownBell] = useState(() => createBell({ terminalId, label: () => called(), preferences: readPreferences }))
  const { session, state, linkHint, appearance } = useTerminalSession(host, {
    terminalId,
    label,
    connect,
    visible,
    webgl,
    inside,
    on: {
      title: (title) => onTitle?.(title),
      hiddenOutput: () => onHiddenOutput?.(),
      room: (size) => onRoom?.(size),
      refused: ({ error }) => notify.info('The terminal did not accept the input.', { hint: error }),
      key: (action) => actions.key(action),
      bell: () => ownBell.ring(),
      pasteRefused: () => actions.pasteRefused(),
      used: () => clearBell(terminalId),
      again: () => onAgain?.(),
      typed: (text) => onTyped?.(text),
    },
  })
  const actions = createTerminalActions({ session, apple: detectKeyboard().apple, onSearch: () => setSearching(true) })
  useCommands(visible ? actions.commands : [])
  const focus = () => session?.terminal.focus()
  const surface = { backgroundColor: appearance.theme.colors.background }

  useSessionListener(session, onSession)

  useEffect(() => {
    if (connectionEpoch > 0) session?.retryNow()
  }, [session, connectionEpoch])

  useEffect(() => {
    if (!visible || !wantsFocus || !session) return
    session.terminal.focus()
    clearBell(terminalId)
    onFocused?.()
  }, [terminalId, visible, wantsFocus, session, onFocused])

  const ended = end ?? (state.phase === 'ended' ? state.end : undefined)
  return (
    <div
      data-terminal={terminalId}
      data-phase={state.phase}
      className="relative flex size-full flex-col"
      style={surface}
    >
      {searching && session && (
        <SearchBar
          search={session.search}
          onClose={() => {
            setSearching(false)
            focus()
          }}
        />
      )}
      <ContextMenu items={actions.menu}>
        <div data-keys="terminal" className="relative min-h-0 flex-1 pt-1.5 pl-4">
          <div ref={host} className="size-full overflow-hidden font-mono" style={surface} />
        </div>
      </ContextMenu>
      {session && (
        <SessionOverlays
          session={session}
          menuOf={appearance.preferences.commandMarks ? actions.commandMenu : undefined}
          onFocus={focus}
        />
      )}
      <StreamBar state={state} onRetry={() => session?.retryNow()} />
      {ended && <EndBar end={ended} onAgain={onAgain} onAllAgain={onAllAgain} onClose={onClose} />}
      {linkHint && <LinkTooltip hint={linkHint} apple={detectKeyboard().apple} />}
    </div>
  )
}

function useSessionListener(session: TerminalSession | undefined, listener: TerminalViewProps['onSession']): void {
  const report = useEffectEvent((it: TerminalSession | undefined) => listener?.(it))
  useEffect(() => {
    if (!session) return
    report(session)
    return () => report(undefined)
  }, [session])
}

type SessionOverlaysProps = {
  session: TerminalSession
  /** Menu of a command; undefined if commands are not marked. */
  menuOf: TerminalActions['commandMenu'] | undefined
  onFocus: () => void
}

function SessionOverlays({ session, menuOf, onFocus }: SessionOverlaysProps) {
  return (
    <>
      {menuOf && <CommandGutter session={session} menuOf={menuOf} />}
      <NewOutputPill
        place={session.reading.place}
        onJump={() => {
          session.reading.toEnd()
          onFocus()
        }}
      />
      <PasteBar paste={session.paste} />
      <PasteDialog paste={session.paste} onAnswered={onFocus} />
      <ClipboardAsk requests={session.clipboard} onAnswered={onFocus} />
    </>
  )
}

/** Request of a program to set the clipboard. Does not take the focus, so that typing continues. */
function ClipboardAsk({ requests, onAnswered }: ClipboardAskProps) {
  const text = useObservable(requests.pendingRequest)
  if (text === undefined) return null
  const answer = (choice: ClipboardAnswer) => {
    requests.answer(choice)
    onAnswered()
  }
  return (
    <section
      aria-label="A program wants to copy"
      className="animate-appear absolute top-2 right-5 z-20 w-96 max-w-[calc(100%-2rem)] rounded-card bg-raised p-3 shadow-popover"
    >
      <p role="status" className="font-medium text-text">
        This program wants to copy to the clipboard
      </p>
      <pre className="my-2 max-h-28 overflow-hidden rounded-control border border-line bg-panel px-2 py-1 font-mono text-small break-all whitespace-pre-wrap text-text">
        {text.length > maxPreviewLength ? `${text.slice(0, maxPreviewLength)}…` : text}
      </pre>
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 text-small text-faint">Your choice applies to this terminal.</p>
        <Button size="small" onClick={() => answer('refuse')}>
          Deny{' '}
        </Button>
        <Button size="small" variant="primary" onClick={() => answer('allow')}>
          Allow
        </Button>
      </div>
    </section>
  )
}

/** Button shown when output arrives while the user has scrolled up. Scrolls to the end. */
function NewOutputPill({ place, onJump }: NewOutputPillProps) {
  const news = useObservable(place) === 'news'
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-2.5 z-10 flex justify-center">
      <span role="status" className="sr-only">
        {news && 'New output below'}
      </span>
      {news && (
        <button
          type="button"
          onClick={onJump}
          className="animate-appear pointer-events-auto flex h-7 items-center gap-1.5 rounded-full bg-raised pr-3 pl-2.5 text-small font-medium text-accent shadow-popover hover:bg-control-hover"
        >
          <ArrowDown aria-hidden className="size-3.5" />
          New output
        </button>
      )}
    </div>
  )
}

/** Connection notice above the last row. Shown with a delay, because most interruptions are short. */
function StreamBar({ state, onRetry }: StreamBarProps) {
  const sentence = describeStream(state)
  return (
    <div role="status" className="pointer-events-none absolute inset-x-0 bottom-0 z-10 flex justify-center">
      {sentence && (
        <div className="animate-fade pointer-events-auto mb-3 flex h-8 items-center gap-2 rounded-full bg-raised pr-1.5 pl-3 text-small text-muted shadow-popover [animation-delay:400ms] [animation-fill-mode:both]">
          <span aria-hidden className="animate-breathe size-1.5 rounded-full bg-caution" />
          <span className="pr-1.5">{sentence}</span>
          {state.phase === 'reconnecting' && state.attempt > 2 && (
            <Button size="small" variant="ghost" className="h-6 rounded-full" onClick={onRetry}>
              Try now
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function describeStream(state: StreamState): string | undefined {
  if (state.phase === 'connecting') return 'Connecting…'
  if (state.phase === 'gone') return state.reason === '' ? 'This terminal no longer exists.' : state.reason
  if (state.phase !== 'reconnecting') return undefined
  if (state.refusing) return 'Reconnecting… Some of your input was dropped.'
  return state.holding ? 'Reconnecting… Your input is kept.' : 'Reconnecting…'
}
