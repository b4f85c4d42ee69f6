import { useEffect, useState } from 'react'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { revealMatch } from '../search/revealMatch.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import { describeEnd } from '../view/endSentence.ts'
import type { SandboxLinks } from '../view/links/terminalLinks.ts'
import { TerminalView } from '../view/TerminalView.tsx'
import type { TerminalSession } from '../view/terminalSession.ts'
import type { WebglLeases } from '../view/webglLeases.ts'
import { InputByNotice } from './InputByNotice.tsx'
import { useConnectionEpoch, useTerminalConnector } from './useTerminalConnection.ts'

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
  /** To be scrolled to, once it is in view. */
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
