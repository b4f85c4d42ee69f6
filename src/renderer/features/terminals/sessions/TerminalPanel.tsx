import { Bot } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { buildTerminalStreamUrl } from '#renderer/api/streamUrl.ts'
import { openWindowSocket } from '#renderer/api/windowKey.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'
import { revealMatch } from '../search/revealMatch.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { StreamConnector } from '../stream/terminalStream.ts'
import { describeEnd } from '../view/endSentence.ts'
import type { SandboxLinks } from '../view/links/terminalLinks.ts'
import { TerminalView } from '../view/TerminalView.tsx'
import type { TerminalSession } from '../view/terminalSession.ts'
import type { WebglLeases } from '../view/webglLeases.ts'

type TypingModel = { conversationId: string; title: string; count: number }

const typingVisibleMs = 10_000

export type TerminalPanelProps = {
  terminal: Terminal
  label: string
  visible: boolean
  webgl: WebglLeases
  inside: SandboxLinks
  wantsFocus: boolean
  onFocused: () => void
  onTitle: (title: string | null) => void
  onHiddenOutput: () => void
  onRoom: (size: TerminalSize) => void
  onAgain: (() => void) | undefined
  onAllAgain: (() => void) | undefined
  sandboxRuns: boolean
  onClose: () => void
  onSession: (session: TerminalSession | undefined) => void
  onTyped: (text: string) => void
  /** Match to scroll to once the terminal is visible. */
  reveal: TerminalMatch | undefined
}

export function TerminalPanel({ terminal, reveal, onSession, sandboxRuns, ...view }: TerminalPanelProps) {
  const { session_id, sandbox_id } = terminal
  const connect = useTerminalConnector(sandbox_id, session_id)
  const [session, setSession] = useState<TerminalSession>()
  const { visible } = view
  useEffect(() => {
    if (reveal && visible && session) return revealMatch(session.terminal, reveal)
  }, [reveal, visible, session])
  return (
    <div className="relative size-full">
      <InputByNotice terminalId={session_id} />
      <TerminalView
        {...view}
        onSession={(next) => {
          setSession(next)
          onSession(next)
        }}
        terminalId={session_id}
        connect={connect}
        connectionEpoch={useConnectionEpoch()}
        end={describeEnd(terminal, sandboxRuns)}
      />
    </div>
  )
}

/** Notice that a model typed into this terminal, with a link to the chat. */
function InputByNotice({ terminalId }: { terminalId: string }) {
  const [typing, setTyping] = useState<TypingModel>()
  useLiveEvent((event) => {
    if (event.type !== 'terminal.typed' || event.session_id !== terminalId) return
    const { conversation_id: conversationId, title } = event
    setTyping((before) => ({ conversationId, title: sanitizeLine(title, 60), count: (before?.count ?? 0) + 1 }))
  })
  useEffect(() => {
    if (!typing) return
    const timer = setTimeout(() => setTyping(undefined), typingVisibleMs)
    return () => clearTimeout(timer)
  }, [typing])
  if (!typing) return null
  return (
    <a
      href={buildAddress('chat', typing.conversationId)}
      className="animate-appear absolute top-2 right-4 z-10 flex max-w-80 items-center gap-1.5 rounded-control border border-edge bg-raised px-2 py-1 text-small text-text shadow-popover hover:underline"
    >
      <Bot aria-hidden className="size-3.5 shrink-0 text-accent" />
      <span className="truncate">“{typing.title}” typed here</span>
    </a>
  )
}

function useTerminalConnector(sandboxId: SandboxId, terminalId: TerminalId): StreamConnector {
  return useCallback(
    ({ scrollback }) => openWindowSocket(buildTerminalStreamUrl({ sandboxId, terminalId, scrollback })),
    [sandboxId, terminalId],
  )
}

/** Counts reconnections to the service. */
function useConnectionEpoch(): number {
  const [epoch, setEpoch] = useState(0)
  useLiveEvent((event) => {
    const connected = event.type === 'connection.changed' && event.connection.state === 'connected'
    if (connected || event.type === 'ready') setEpoch((before) => before + 1)
  })
  return epoch
}
