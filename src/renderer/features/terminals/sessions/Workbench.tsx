import { lazy, Suspense, useEffect, useEffectEvent } from 'react'
import { useTerminals } from '#renderer/api/terminals/useTerminals.ts'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { loadTerminalTabs } from './loadTerminalTabs.ts'
import { NoTerminals } from './NoTerminals.tsx'
import { StoppedBar } from './StoppedBar.tsx'
import type { TerminalTabsProps } from './TerminalTabs.tsx'
import { openCommands } from './tabCommands.ts'
import { useArranged } from './useArranged.ts'

const TerminalTabs = lazy(async () => ({ default: (await loadTerminalTabs()).TerminalTabs }))

export type WorkbenchProps = Omit<TerminalTabsProps, 'terminals'> & {
  closedIds: readonly string[]
  creating: boolean
}

/** The terminals of one sandbox. */
export function Workbench({ closedIds, layout, creating, ...props }: WorkbenchProps) {
  const { sandbox, visible, actions, sideButton, listButton } = props
  const { data, error, isPending, refetch } = useTerminals(sandbox.id)
  const terminals = (data ?? []).filter((it) => it.state === 'running' || !closedIds.includes(it.session_id))
  const arranged = useArranged(layout, { terminals, creating })
  const keepClosed = useEffectEvent(actions.keepClosed)
  useEffect(() => {
    if (data) keepClosed(data.map(({ session_id }) => session_id))
  }, [data])
  const running = sandbox.status === 'running'
  useCommands(visible ? openCommands({ running, actions }) : [])

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
