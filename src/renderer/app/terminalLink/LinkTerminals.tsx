import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus, SquareTerminal } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { readAgain } from '../../api/readAgain.ts'
import { buildTerminalStreamUrl } from '../../api/streamUrl.ts'
import { allTerminalsKey, useTerminals } from '../../api/terminals/useTerminals.ts'
import { TabMark } from '../../features/terminals/sessions/TabMark.tsx'
import { buildTabLabels } from '../../features/terminals/sessions/tabLabels.ts'
import { shellCommand, useTerminalActions } from '../../features/terminals/sessions/useTerminalActions.ts'
import { describeEnd } from '../../features/terminals/view/endSentence.ts'
import { TerminalPreferencesHost } from '../../features/terminals/view/preferences/TerminalPreferencesHost.tsx'
import { TerminalView } from '../../features/terminals/view/TerminalView.tsx'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { TabPanel, Tabs } from '../../ui/Tabs.tsx'
import { notify } from '../../ui/toast.tsx'

type LinkTerminalsProps = { sandbox: Sandbox; token: string }

export function LinkTerminals({ sandbox, token }: LinkTerminalsProps) {
  const { data, error, isPending, refetch } = useTerminals(sandbox.id)
  const { create, retitle } = useTerminalActions()
  const [selectedId, setSelectedId] = useState<string>()
  const { mutate, isPending: isCreating } = useMutation({
    mutationFn: (command: string) => create(sandbox.id, { command }),
    onSuccess: ({ session_id }) => setSelectedId(session_id),
    onError: (error) => notify.failed(error, { title: 'Could not start the terminal' }),
  })
  useReadingOnFocus()
  const running = sandbox.status === 'running'
  const open = () => mutate(shellCommand)

  if (isPending) {
    return (
      <div className="p-3">
        <SkeletonRows label="Loading terminals…" />
      </div>
    )
  }
  if (error) {
    return (
      <div className="p-3">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  const present = data.find(({ session_id }) => session_id === selectedId) ?? data[0]
  if (!present) return <NoTerminal sandbox={sandbox} busy={isCreating} onOpen={open} />
  const labels = buildTabLabels(data)
  return (
    <Tabs
      label={`Terminals in ${sandbox.name}`}
      tabs={data.map((terminal) => ({
        id: terminal.session_id,
        label: labels.get(terminal.session_id) ?? terminal.command,
        title: terminal.command,
        mark: <TabMark terminal={terminal} isUnread={false} sandboxRuns={running} />,
      }))}
      value={present.session_id}
      onChange={setSelectedId}
      actions={
        <>
          <IconButton label="New terminal" icon={Plus} size="small" disabled={!running || isCreating} onClick={open} />
          <TerminalPreferencesHost />
        </>
      }
    >
      {data.map((terminal) => (
        <TabPanel key={terminal.session_id} id={terminal.session_id}>
          <LinkTerminal
            terminal={terminal}
            token={token}
            label={`${labels.get(terminal.session_id)} in ${sandbox.name}`}
            onTitle={(title) => retitle(terminal, title)}
            sandboxRuns={running}
            onAgain={running ? () => mutate(terminal.command) : undefined}
          />
        </TabPanel>
      ))}
    </Tabs>
  )
}

/** Refetches when the page regains focus, because a link page receives no events. */
function useReadingOnFocus(): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const onFocus = () => void readAgain(queryClient, allTerminalsKey)
    window.addEventListener('focus', onFocus)
    return () => window.removeEventListener('focus', onFocus)
  }, [queryClient])
}

function NoTerminal({ sandbox, busy, onOpen }: { sandbox: Sandbox; busy: boolean; onOpen: () => void }) {
  return sandbox.status === 'running' ? (
    <EmptyState
      icon={SquareTerminal}
      title="No open terminals"
      description="A terminal runs a shell in this sandbox. It keeps running when you close this page."
      actions={
        <Button variant="primary" icon={Plus} busy={busy} onClick={onOpen}>
          New terminal
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={SquareTerminal}
      title={`${sandbox.name} is stopped`}
      description="Ask its owner to start it, then reload this page."
    />
  )
}

type LinkTerminalProps = {
  terminal: Terminal
  token: string
  label: string
  onTitle: (title: string | null) => void
  onAgain: (() => void) | undefined
  sandboxRuns: boolean
}

function LinkTerminal({ terminal, token, label, sandboxRuns, ...on }: LinkTerminalProps) {
  const { sandbox_id: sandboxId, session_id: terminalId } = terminal
  const connect = useCallback(
    ({ scrollback }: { scrollback: number }) =>
      // The service selects the first subprotocol, so that its response does not contain the token.
      new WebSocket(buildTerminalStreamUrl({ sandboxId, terminalId, scrollback }), [
        'steward',
        `steward.token.${token}`,
      ]),
    [sandboxId, terminalId, token],
  )
  return (
    <TerminalView
      terminalId={terminalId}
      label={label}
      connect={connect}
      end={describeEnd(terminal, sandboxRuns)}
      wantsFocus
      {...on}
    />
  )
}
