import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { newSandboxKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { FoundSandboxes } from './FoundSandboxes.tsx'
import { OtherHostNotice } from './OtherHostNotice.tsx'
import { SandboxListView } from './SandboxListView.tsx'
import type { SandboxRowActions } from './SandboxRow.tsx'
import { filterFrom, fits } from './sandboxFilter.ts'

type SandboxPanelProps = {
  selectedId: string | undefined
  actions: SandboxRowActions
  onSelect: (sandbox: Sandbox) => void
  onNew: () => void
}

export function SandboxPanel({ selectedId, actions, onSelect, onNew }: SandboxPanelProps) {
  const { data, error, isPending, refetch } = useSandboxes()
  const [written, setWritten] = useState('')
  const filtered = data !== undefined && data.length >= filterFrom
  const matches = filtered ? data.filter((it) => fits(it, written)) : (data ?? [])
  return (
    <section aria-label="Sandboxes" className="flex size-full min-h-0 flex-col bg-panel">
      <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-1.5 pl-3">
        <h2 className="font-semibold text-text">Sandboxes</h2>
        {data && data.length > 0 && <span className="text-small text-faint tabular-nums">{data.length}</span>}
        <span className="flex-1" />
        <IconButton label="New sandbox" icon={Plus} shortcut={newSandboxKeys} onClick={onNew} />
      </header>
      {isPending && (
        <div className="p-2">
          <SkeletonRows label="Loading sandboxes…" count={4} rowClassName="h-12" />
        </div>
      )}
      {error && (
        <div className="p-2">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      )}
      <OtherHostNotice />
      <FoundSandboxes />
      {data?.length === 0 && <p className="p-3 text-muted">No sandboxes yet.</p>}
      {filtered && (
        <div className="px-1.5 pt-1.5">
          <TextField
            label="Find a sandbox"
            labelHidden
            placeholder="Find a sandbox"
            value={written}
            onChange={setWritten}
            onKeyDown={(event) => event.key === 'Escape' && setWritten('')}
          />
        </div>
      )}
      {data && data.length > 0 && matches.length === 0 && <p className="p-3 text-muted">None fits “{written}”.</p>}
      {matches.length > 0 && (
        <SandboxListView sandboxes={matches} selectedId={selectedId} actions={actions} onSelect={onSelect} />
      )}
    </section>
  )
}
