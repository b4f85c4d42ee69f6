import { Copy, Ellipsis, Play, Square, SquareTerminal, Trash2 } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { copyText } from '#renderer/ui/copyText.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { NameField } from '#renderer/ui/NameField.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { getStatusLabel, getStatusTone } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { type Sandbox, SandboxName } from '#shared/contract/sandboxes.ts'
import { useSandboxListActions } from '../../sandboxListActions.ts'
import { Uptime } from '../../Uptime.tsx'
import { copyForms } from './copyForms.ts'
import { Facts } from './Facts.tsx'
import { useChangeSandbox } from './useChangeSandbox.ts'

export function SandboxHead({ sandbox }: { sandbox: Sandbox }) {
  const actions = useSandboxListActions()
  const change = useChangeSandbox()
  const { name, short_id, status, status_reason, started_at } = sandbox
  const running = status === 'running'
  return (
    <header className="border-b border-line px-3 pt-2.5 pb-3">
      <div className="flex min-h-8 items-center gap-2">
        <div className="flex min-w-0 flex-1 items-center">
          <NameField
            key={sandbox.id}
            name={name}
            schema={SandboxName}
            shortcut="f2"
            rename={(next) => change(sandbox, { name: next })}
          />
        </div>
        {running ? (
          <Button size="small" icon={Square} onClick={() => actions.stop(sandbox)}>
            Stop
          </Button>
        ) : (
          <Button
            size="small"
            icon={Play}
            variant="primary"
            disabled={status === 'provisioning'}
            onClick={() => actions.start(sandbox)}
          >
            Start
          </Button>
        )}
        <Menu
          align="end"
          items={[
            {
              label: 'New terminal',
              icon: SquareTerminal,
              disabled: !running,
              onSelect: () => actions.newTerminal(sandbox),
            },
            'separator',
            { label: 'Copy ID', icon: Copy, onSelect: () => actions.copyId(sandbox) },
            ...copyForms(sandbox).map(({ label, text }) => ({
              label,
              icon: Copy,
              onSelect: () => void copyForm(text),
            })),
            'separator',
            { label: 'Delete…', icon: Trash2, tone: 'danger', onSelect: () => actions.askToDelete(sandbox) },
          ]}
        >
          <IconButton label={`More for ${name}`} icon={Ellipsis} />
        </Menu>
      </div>
      <div className="flex items-center gap-2 text-small text-muted">
        <StatusDot tone={getStatusTone(status)} pulsing={status === 'provisioning'} />
        <span>{getStatusLabel(status)}</span>
        {running && started_at && (
          <>
            <span aria-hidden>·</span>
            <Uptime startedAt={started_at} />
          </>
        )}
        <span aria-hidden>·</span>
        <button
          type="button"
          title="Copy ID"
          onClick={() => actions.copyId(sandbox)}
          className="rounded-small font-mono hover:text-text"
        >
          <span className="sr-only">Copy ID </span>
          {short_id}
        </button>
      </div>
      {status_reason !== null && <p className="pt-1 text-small break-words text-muted">{status_reason}</p>}
      <Facts sandbox={sandbox} />
    </header>
  )
}

async function copyForm(text: string): Promise<void> {
  if (!(await copyText(text))) return
  notify.done('Copied', { hint: 'It contains no key. Set STEWARD_API_KEY to yours.' })
}
