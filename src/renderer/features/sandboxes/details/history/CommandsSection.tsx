import { Copy, RotateCcw } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { copyText } from '#renderer/ui/copyText.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { Section } from '#renderer/ui/section/Section.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { listCommands } from '#shared/contract/activity.ts'
import type { Output } from '#shared/contract/route.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useSandboxListActions } from '../../sandboxListActions.ts'
import { formatDuration } from '../durationText.ts'
import { useCommandHistory } from './useHistory.ts'

type CommandsSectionProps = { sandbox: Sandbox; visible: boolean }

export function CommandsSection({ sandbox, visible }: CommandsSectionProps) {
  return (
    <Section id="commands" title="Recent commands" foldedAtFirst>
      <Commands sandbox={sandbox} visible={visible} />
    </Section>
  )
}

function Commands({ sandbox, visible }: CommandsSectionProps) {
  const { data, error, isPending, refetch } = useCommandHistory(sandbox, visible)
  const { run } = useSandboxListActions()
  if (isPending) return <SkeletonRows label="Loading commands…" />
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (data.length === 0)
    return <p className="text-muted">Commands that agents and scripts run over the API appear here.</p>
  return (
    <ul className="-mx-1.5 max-h-72 overflow-y-auto">
      {data.map((item) => (
        <CommandRow
          key={`${item.at} ${item.command}`}
          entry={item}
          onAgain={sandbox.status === 'running' ? () => run(sandbox, item.command) : undefined}
        />
      ))}
    </ul>
  )
}

type Entry = Output<typeof listCommands>['commands'][number]

function CommandRow({ entry, onAgain }: { entry: Entry; onAgain: (() => void) | undefined }) {
  const { command, exit_code, duration_ms, at } = entry
  const failed = exit_code !== 0
  return (
    <li className="group flex items-center gap-2 rounded-small px-1.5 py-1 hover:bg-hover">
      <span
        role="img"
        aria-label={`Exit code ${exit_code}`}
        title={`Exit code ${exit_code}`}
        className={joinClassNames(
          'w-7 shrink-0 rounded-small text-center text-tiny tabular-nums',
          failed ? 'bg-negative-soft text-negative' : 'bg-positive-soft text-positive',
        )}
      >
        {exit_code}
      </span>
      <span className="min-w-0 flex-1">
        <code className="block truncate font-mono text-small text-text" title={command}>
          {command}
        </code>
        <span className="flex gap-1.5 text-small text-faint tabular-nums">
          {formatDuration(duration_ms)} <span aria-hidden>·</span> <TimeAgo at={at} />
        </span>
      </span>
      <span className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <IconButton
          label="Copy command"
          icon={Copy}
          size="small"
          onClick={() => void copyText(command).then((copied) => copied && notify.done('Command copied'))}
        />
        {onAgain && <IconButton label="Run in a new terminal" icon={RotateCcw} size="small" onClick={onAgain} />}
      </span>
    </li>
  )
}
