import { Play } from 'lucide-react'
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { useTerminals } from '#renderer/api/terminals/useTerminals.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { getStatusTone } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { type Layout, reconcileLayout } from '../layout/tabLayout.ts'
import { loadTerminalTabs } from './loadTerminalTabs.ts'
import { NoTerminals } from './NoTerminals.tsx'
import { describeState } from './stateSentence.ts'
import type { TerminalTabsProps } from './TerminalTabs.tsx'
import { createOpenCommands } from './tabCommands.ts'

const TerminalTabs = lazy(async () => ({ default: (await loadTerminalTabs()).TerminalTabs }))

export type WorkbenchProps = Omit<TerminalTabsProps, 'terminals'> & {
  closedIds: readonly string[]
  creating: boolean
}

export function Workbench({ closedIds, layout, creating, ...props }: WorkbenchProps) {
  const { sandbox, visible, actions, sideButton, listButton } = props
  const { data, error, isPending, refetch } = useTerminals(sandbox.id)
  const terminals = (data ?? []).filter(
    (candidate) => candidate.state === 'running' || !closedIds.includes(candidate.session_id),
  )
  const arranged = useArranged(layout, { terminals, creating })
  const keepClosed = useEffectEvent(actions.keepClosed)
  useEffect(() => {
    if (data) keepClosed(data.map(({ session_id }) => session_id))
  }, [data])
  const running = sandbox.status === 'running'
  useCommands(visible ? createOpenCommands({ running, actions }) : [])

  if (isPending) return <ReadingTerminals />
  if (error) {
    return (
      <div className="p-3">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (arranged.length === 0) return <NoTerminals {...{ sandbox, actions, sideButton, listButton }} />
  return (
    <div className="flex size-full min-h-0 flex-col">
      {!running && <StoppedBar sandbox={sandbox} onStart={actions.startSandbox} />}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<ReadingTerminals />}>
          <TerminalTabs {...props} terminals={terminals} layout={arranged} />
        </Suspense>
      </div>
    </div>
  )
}

function ReadingTerminals() {
  return (
    <div className="p-3">
      <SkeletonRows label="Loading terminals…" count={3} rowClassName="h-7" />
    </div>
  )
}

/** Notice above the terminals of a stopped sandbox, whose output can still be read. */
function StoppedBar({ sandbox, onStart }: { sandbox: Sandbox; onStart: () => void }) {
  const starting = sandbox.status === 'provisioning'
  return (
    <div className="flex h-9 shrink-0 items-center gap-2.5 border-b border-line bg-panel pr-1.5 pl-3">
      <StatusDot tone={getStatusTone(sandbox.status)} pulsing={starting} />
      <p role="status" className="min-w-0 flex-1 truncate text-text">
        {describeState(sandbox)}
      </p>
      <Button size="small" icon={Play} busy={starting} onClick={onStart}>
        Start
      </Button>
    </div>
  )
}

/**
 * Returns the layout reconciled with the current terminals. While a terminal is being opened here, new terminals are
 * not added, because they would briefly appear as a separate tab before moving to their position.
 */
function useArranged(layout: Layout, { terminals, creating }: { terminals: TerminalList; creating: boolean }): Layout {
  const ids = terminals.map(({ session_id }) => session_id)
  const [settled, setSettled] = useState<readonly string[]>(ids)
  if (!creating && settled.join() !== ids.join()) setSettled(ids)
  return reconcileLayout(layout, creating ? ids.filter((id) => settled.includes(id)) : ids)
}
