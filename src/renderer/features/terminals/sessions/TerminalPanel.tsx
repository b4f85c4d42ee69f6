import type { Terminal } from '../../../../shared/contract/terminals.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import { TerminalView } from '../view/TerminalView.tsx'
import type { TerminalSession } from '../view/terminalSession.ts'
import type { WebglLeases } from '../view/webglLeases.ts'
import { useConnectionEpoch, useTerminalConnector } from './useTerminalConnection.ts'

type TerminalPanelProps = {
  terminal: Terminal
  label: string
  visible: boolean
  webgl: WebglLeases
  wantsFocus: boolean
  onFocusTaken: () => void
  onTitle: (title: string | null) => void
  onHiddenOutput: () => void
  onRoom: (size: TerminalSize) => void
  onAgain: (() => void) | undefined
  onClose: () => void
  onSession: (session: TerminalSession | undefined) => void
  onTyped: (text: string) => void
}

export function TerminalPanel({ terminal, ...view }: TerminalPanelProps) {
  const { session_id, sandbox_id, state, exit_code, signal } = terminal
  const connect = useTerminalConnector(sandbox_id, session_id)
  return (
    <TerminalView
      {...view}
      terminalId={session_id}
      connect={connect}
      connectionEpoch={useConnectionEpoch()}
      end={state === 'exited' ? { exitCode: exit_code, signal } : undefined}
    />
  )
}
