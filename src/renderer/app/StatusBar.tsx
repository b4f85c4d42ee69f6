import type { ReactNode } from 'react'
import { useConnection, useLocalStatus } from '../api/AgentProvider.tsx'
import { useTypingInTerminal } from '../ui/commands/useTypingInTerminal.ts'
import type { Feature } from '../ui/feature.ts'
import { Kbd } from '../ui/Kbd.tsx'
import { StatusDot } from '../ui/StatusDot.tsx'
import { Tooltip } from '../ui/Tooltip.tsx'
import { describeConnection } from './describeConnection.ts'
import { ThemeSwitch } from './ThemeSwitch.tsx'

type StatusBarProps = { features: readonly Feature[]; onOpenPalette: () => void; onOpenShortcuts: () => void }

export function StatusBar({ features, onOpenPalette, onOpenShortcuts }: StatusBarProps) {
  const status = useLocalStatus()
  // Hints name only the keys that work now.
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
