import { Play, Plus, Power, SquareTerminal, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { newTerminalKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { Kbd } from '#renderer/ui/Kbd.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { getStatusLabel } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { describeState } from './stateSentence.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

type NoTerminalsProps = {
  sandbox: Sandbox
  actions: WorkbenchActions
  sideButton: ReactNode
  listButton: ReactNode
}

export function NoTerminals({ sideButton, listButton, ...props }: NoTerminalsProps) {
  return (
    <div className="flex size-full min-h-0 flex-col">
      <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line bg-panel pr-1.5 pl-3 text-muted">
        {listButton}
        <span className="min-w-0 flex-1 truncate">{props.sandbox.name}</span>
        {sideButton}
      </div>
      <div className="min-h-0 flex-1">{renderContent(props)}</div>
    </div>
  )
}

function renderContent({ sandbox, actions }: Omit<NoTerminalsProps, 'sideButton' | 'listButton'>): ReactNode {
  const start = (
    <Button variant="primary" icon={Play} onClick={actions.startSandbox}>
      Start
    </Button>
  )
  switch (sandbox.status) {
    case 'provisioning':
      return (
        <div className="p-3">
          <SkeletonRows label={describeState(sandbox)} count={3} rowClassName="h-4 w-72" />
        </div>
      )
    case 'stopped':
      return (
        <EmptyState
          icon={Power}
          title={`${sandbox.name} is stopped`}
          description={`${sandbox.status_reason ?? ''} Its files are kept. Start it to open terminals in it again.`.trim()}
          actions={start}
        />
      )
    case 'error':
      return (
        <EmptyState
          icon={TriangleAlert}
          title={`${sandbox.name} failed`}
          description={describeState(sandbox)}
          actions={
            <>
              {start}
              <Button onClick={actions.askToDeleteSandbox}>Delete…</Button>
            </>
          }
        />
      )
    case 'running':
      return (
        <EmptyState
          icon={SquareTerminal}
          title="No open terminals"
          description="A terminal runs a shell or a command in this sandbox. It keeps running when you close the window."
          actions={
            <>
              <Button variant="primary" icon={Plus} onClick={() => actions.newTerminal()}>
                New terminal
              </Button>
              <Kbd shortcut={newTerminalKeys} />
              <Button variant="ghost" icon={Play} onClick={actions.askForCommand}>
                Run a command…
              </Button>
            </>
          }
        />
      )
    default:
      return (
        <EmptyState
          icon={TriangleAlert}
          title={`${sandbox.name}: ${getStatusLabel(sandbox.status)}`}
          description="This version of Steward does not know this status. Update Steward."
        />
      )
  }
}
