import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { newSandboxKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { getSandboxHost, replaceSandboxHost, type SandboxHost } from '#shared/contract/sandboxHost.ts'
import { FoundSandboxes } from './FoundSandboxes.tsx'
import { SandboxListView } from './SandboxListView.tsx'
import type { SandboxRowActions } from './SandboxRow.tsx'
import { matchesQuery, minSandboxesForFilter } from './sandboxFilter.ts'

export const sandboxHostKey = ['sandbox-host'] as const
/** Polling interval while the host is disconnected. */
const reconnectIntervalMs = 5_000

type SandboxPanelProps = {
  selectedId: string | undefined
  actions: SandboxRowActions
  onSelect: (sandbox: Sandbox) => void
  onNew: () => void
}

export function SandboxPanel({ selectedId, actions, onSelect, onNew }: SandboxPanelProps) {
  const { data, error, isPending, refetch } = useSandboxes()
  const [written, setWritten] = useState('')
  const filtered = data !== undefined && data.length >= minSandboxesForFilter
  const matches = filtered ? data.filter((it) => matchesQuery(it, written)) : (data ?? [])
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
      {data && data.length > 0 && matches.length === 0 && <p className="p-3 text-muted">No matches for “{written}”.</p>}
      {matches.length > 0 && (
        <SandboxListView sandboxes={matches} selectedId={selectedId} actions={actions} onSelect={onSelect} />
      )}
    </section>
  )
}

/**
 * Offers to stop sandboxes started by another version of Steward, which this version cannot manage, for example after
 * an update.
 */
function OtherHostNotice() {
  const { host, replace } = useSandboxHost()
  const [asking, setAsking] = useState(false)
  if (host?.state !== 'other-version') return null
  const { version, running_sandboxes: count } = host
  const sandboxes = count === 1 ? '1 sandbox was' : `${count} sandboxes were`
  return (
    <section aria-label="Other version" className="m-2 rounded-card border border-line bg-caution-soft p-3">
      <p className="text-text">
        {sandboxes} started by {version === null ? 'another version of Steward' : `Steward ${version}`}, and this
        version can’t use {count === 1 ? 'it' : 'them'}.
      </p>
      <Button className="mt-2" size="small" onClick={() => setAsking(true)}>
        Stop all and continue…
      </Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={count === 1 ? 'Stop the sandbox and continue?' : `Stop ${count} sandboxes and continue?`}
        description="Programs and terminals in them end. Files are kept, and you can start the sandboxes again."
        confirmLabel="Stop all and continue"
        onConfirm={async () => {
          await replace()
          notify.done('Sandboxes stopped. You can start them again.')
        }}
      />
    </section>
  )
}

/** Reads the state of the sandbox host. @returns undefined until loaded, and for accounts other than the owner's */
function useSandboxHost(): { host: SandboxHost | undefined; replace: () => Promise<void> } {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = useQuery({
    queryKey: sandboxHostKey,
    queryFn: ({ signal }) => agent(getSandboxHost, {}, { signal }),
    retry: false,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'connected' ? reconnectIntervalMs : false),
  })
  return {
    host: data,
    async replace() {
      try {
        await agent(replaceSandboxHost, {})
      } finally {
        await readAgain(queryClient, sandboxHostKey)
      }
    },
  }
}
