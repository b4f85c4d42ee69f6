import type { ReactNode } from 'react'
import type { ServiceConnection } from '#shared/contract/localApi.ts'
import { toPlainWord } from '#shared/openRecord.ts'
import { useConnection, useLocalStatus } from '../api/AgentProvider.tsx'
import { useTypingInTerminal } from '../ui/commands/useTypingInTerminal.ts'
import type { Feature } from '../ui/feature.ts'
import { Kbd } from '../ui/Kbd.tsx'
import { StatusDot, type Tone } from '../ui/StatusDot.tsx'
import { Tooltip } from '../ui/Tooltip.tsx'
import { ThemeSwitch } from './ThemeSwitch.tsx'

type ConnectionText = { tone: Tone; state: string }

type StatusBarProps = { features: readonly Feature[]; onOpenPalette: () => void; onOpenShortcuts: () => void }

export function StatusBar({ features, onOpenPalette, onOpenShortcuts }: StatusBarProps) {
  const status = useLocalStatus()
  // Lists only shortcuts that are currently available.
  const isTyping = useTypingInTerminal()
  return (
    <footer className="col-span-2 flex h-7 items-center gap-1 border-t border-line bg-panel px-2 text-small text-muted">
      <ConnectionState />
      {features.map(({ id, Status }) => Status && <Status key={id} />)}
      <div className="flex-1" />
      {status && <span className="px-1.5 text-faint tabular-nums max-narrow:hidden">Steward {status.version}</span>}
      <BarButton onClick={onOpenPalette}>
        Commands
        <Kbd shortcut={isTyping ? 'mod+shift+p' : 'mod+k'} />
      </BarButton>
      <BarButton onClick={onOpenShortcuts}>
        Shortcuts
        {!isTyping && <Kbd shortcut="?" />}
      </BarButton>
      <ThemeSwitch side="top" />
    </footer>
  )
}

function ConnectionState() {
  const connection = useConnection()
  const { tone, state } = describeConnection(connection)
  const name = connection?.name ?? 'Service'
  const { detail, url } = connection ?? {}
  return (
    <Tooltip content={detail ?? url ?? 'Checking the service…'} side="top">
      <button type="button" className="flex h-5.5 min-w-0 items-center gap-2 rounded-small px-1.5 hover:bg-hover">
        <StatusDot tone={tone} pulsing={tone === 'caution'} />
        <span role="status" className="truncate">
          {name}: {state}
        </span>
      </button>
    </Tooltip>
  )
}

function BarButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex h-5.5 items-center gap-1.5 rounded-small px-1.5 hover:bg-hover hover:text-text"
    >
      {children}
    </button>
  )
}

function describeConnection(connection: ServiceConnection | undefined): ConnectionText {
  switch (connection?.state) {
    case undefined:
      return { tone: 'neutral', state: 'connecting' }
    case 'starting':
      return { tone: 'caution', state: 'starting' }
    case 'connected':
      return { tone: 'positive', state: 'connected' }
    case 'signed-out':
      return { tone: 'caution', state: 'sign-in needed' }
    case 'unreachable':
      return { tone: 'negative', state: 'not reachable' }
    default:
      return { tone: 'neutral', state: toPlainWord(connection?.state ?? '').toLowerCase() }
  }
}
