import { BellRing, Copy, Ellipsis, Globe, Network, Pencil, Play, Plus, Square, TimerOff, Trash2 } from 'lucide-react'
import { useAttentionRequests } from '#renderer/api/terminals/attentionRequests.ts'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { newTerminalKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { ContextMenu, Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import {
  describeUnenforced,
  formatResources,
  getStatusLabel,
  getStatusTone,
} from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { formatIdle } from '../idleLabels.ts'
import { getNetworkLabel } from '../networkLabels.ts'
import { Uptime } from '../Uptime.tsx'

export type SandboxRowActions = {
  newTerminal(sandbox: Sandbox): void
  start(sandbox: Sandbox): void
  stop(sandbox: Sandbox): void
  copyId(sandbox: Sandbox): void
  askToRename(sandbox: Sandbox): void
  askToDelete(sandbox: Sandbox): void
}

type SandboxRowProps = {
  sandbox: Sandbox
  /** Position in the whole list, of which not all rows may be rendered. */
  place: { index: number; count: number }
  isSelected: boolean
  /** Whether another sandbox has the same name. The short id is then shown beside the name. */
  isNamesake: boolean
  /** Whether the row is the tab stop of the list. Other rows are reached with the arrow keys. */
  isTabStop: boolean
  actions: SandboxRowActions
  onSelect: () => void
}

export function SandboxRow({ sandbox, place, isSelected, isNamesake, isTabStop, actions, onSelect }: SandboxRowProps) {
  const { id, short_id, name, status, started_at } = sandbox
  const items = createSandboxMenu(sandbox, actions)
  const calls = useAttentionRequests().some(({ sandboxId }) => sandboxId === id)
  const tabIndex = isTabStop ? 0 : -1
  return (
    <li
      className="group relative"
      data-sandbox={id}
      data-status={status}
      data-index={place.index}
      aria-posinset={place.index + 1}
      aria-setsize={place.count}
    >
      <ContextMenu items={items}>
        <button
          type="button"
          data-row
          tabIndex={tabIndex}
          aria-current={isSelected || undefined}
          onClick={onSelect}
          onKeyDown={(event) => {
            if (event.key === 'Delete') actions.askToDelete(sandbox)
            if (event.key === 'F2') actions.askToRename(sandbox)
          }}
          title={formatTooltip(sandbox)}
          className={joinClassNames(
            'flex h-12 w-full items-center gap-2.5 rounded-control pr-2 pl-2.5 text-left focus-visible:-outline-offset-2',
            isSelected ? 'bg-selected' : 'hover:bg-hover',
          )}
        >
          {calls ? (
            <BellRing role="img" aria-label="Needs you" className="-mx-0.75 size-3.5 shrink-0 text-caution" />
          ) : (
            <StatusDot tone={getStatusTone(status)} pulsing={status === 'provisioning'} />
          )}
          <span className="flex min-w-0 flex-1 flex-col">
            <span className="flex items-baseline gap-2">
              <span className="min-w-0 flex-1 truncate font-medium text-text">
                {name}
                {isNamesake && <span className="ml-1.5 font-mono text-small font-normal text-muted">{short_id}</span>}
              </span>
              <span className="shrink-0 text-small text-muted group-focus-within:opacity-0 group-hover:opacity-0">
                <span className="sr-only">{getStatusLabel(status)} </span>
                {started_at && status === 'running' ? (
                  <Uptime startedAt={started_at} />
                ) : (
                  <span aria-hidden>{getStatusLabel(status)}</span>
                )}
              </span>
            </span>
            <span
              className={joinClassNames(
                'flex items-center gap-1.5 text-small',
                isSelected ? 'text-muted' : 'text-faint',
              )}
            >
              <span className="truncate">{formatResources(sandbox)}</span>
              <Marks sandbox={sandbox} />
            </span>
          </span>
        </button>
      </ContextMenu>
      <Menu items={items} align="end">
        <IconButton
          label={`Actions for ${name}`}
          icon={Ellipsis}
          size="small"
          tabIndex={tabIndex}
          className="absolute top-1.5 right-1.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 aria-expanded:opacity-100"
        />
      </Menu>
    </li>
  )
}

/** Marks of special settings: network and idle stop. */
function Marks({ sandbox: { network, idle_minutes } }: { sandbox: Sandbox }) {
  const NetworkMark = network === 'open' ? Network : Globe
  return (
    <>
      {network !== 'none' && (
        <>
          <NetworkMark aria-hidden className="size-3 shrink-0" />
          <span className="sr-only">Network: {getNetworkLabel(network)}.</span>
        </>
      )}
      {idle_minutes !== null && (
        <>
          <TimerOff aria-hidden className="size-3 shrink-0" />
          <span className="sr-only">Stop when idle: {formatIdle(idle_minutes)}.</span>
        </>
      )}
    </>
  )
}

export function createSandboxMenu(sandbox: Sandbox, actions: SandboxRowActions): MenuItem[] {
  const running = sandbox.status === 'running'
  return [
    {
      label: 'New terminal',
      icon: Plus,
      shortcut: newTerminalKeys,
      disabled: !running,
      onSelect: () => actions.newTerminal(sandbox),
    },
    running
      ? { label: 'Stop', icon: Square, onSelect: () => actions.stop(sandbox) }
      : {
          label: 'Start',
          icon: Play,
          disabled: sandbox.status === 'provisioning',
          onSelect: () => actions.start(sandbox),
        },
    { label: 'Copy ID', icon: Copy, onSelect: () => actions.copyId(sandbox) },
    { label: 'Rename…', icon: Pencil, onSelect: () => actions.askToRename(sandbox) },
    'separator',
    { label: 'Delete…', icon: Trash2, tone: 'danger', onSelect: () => actions.askToDelete(sandbox) },
  ]
}

function formatTooltip(sandbox: Sandbox): string {
  const notEnforced = describeUnenforced(sandbox.enforced)
  return [
    `${sandbox.name} (${sandbox.short_id})`,
    `${formatResources(sandbox)}, ${sandbox.region}, ${sandbox.runtime}`,
    `Network: ${getNetworkLabel(sandbox.network)}`,
    ...(sandbox.idle_minutes === null ? [] : [`Stop when idle: ${formatIdle(sandbox.idle_minutes)}`]),
    ...(notEnforced === undefined ? [] : [`Not enforced here: ${notEnforced}`]),
    ...(sandbox.status_reason === null ? [] : [sandbox.status_reason]),
  ].join('\n')
}
