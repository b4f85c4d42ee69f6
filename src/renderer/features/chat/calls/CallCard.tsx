import {
  Ban,
  Check,
  ChevronRight,
  CircleDashed,
  CircleSlash,
  CircleX,
  Hand,
  LoaderCircle,
  type LucideIcon,
  TriangleAlert,
} from 'lucide-react'
import { useId, useState } from 'react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { useToolServers } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { goTo } from '#renderer/ui/route.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import { openRecord } from '#shared/openRecord.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'
import { CallApproval } from './CallApproval.tsx'
import { CallDetails } from './CallDetails.tsx'
import {
  describeCallSubject,
  formatDnsLines,
  formatDuration,
  getCallIcon,
  getCallTitle,
  parseArguments,
  readExitCode,
  stateLabels,
  stripControls,
} from './callLabels.ts'

const stateLooks: Readonly<Record<ChatCall['state'], readonly [LucideIcon, string]>> = openRecord(
  {
    running: [LoaderCircle, 'text-accent motion-safe:animate-spin'],
    waiting: [Hand, 'text-caution'],
    done: [Check, 'text-positive'],
    failed: [TriangleAlert, 'text-negative'],
    denied: [Ban, 'text-negative'],
    stopped: [CircleSlash, 'text-muted'],
    interrupted: [CircleSlash, 'text-muted'],
  },
  () => [CircleDashed, 'text-muted'],
)

/** Tool call of a model, shown as one line that expands to its details. */
export function CallCard({ call }: { call: ChatCall }) {
  const [chosen, setOpen] = useState<boolean>()
  const id = useId()
  const args = parseArguments(call)
  const Icon = getCallIcon(call.tool)
  const { data: sandboxes = [] } = useSandboxes()
  const subject = describeCallSubject(args)
  const subjectName = sandboxes.find(({ id: sandbox }) => sandbox === subject)?.name ?? subject
  const exitCode = readExitCode(call)
  const [StateIcon, look] = exitCode === undefined ? stateLooks[call.state] : ([CircleX, 'text-caution'] as const)
  const stateLabel = exitCode === undefined ? stateLabels[call.state] : `Exit code ${exitCode}`
  const title = getCallTitle(call.tool)
  const alias = parseServerName(call.tool)
  const server = alias === undefined ? undefined : sanitizeLine(alias, 60)
  // The card must be expanded before approval.
  const needsLook = server !== undefined || formatDnsLines(call, args) !== undefined
  const open = chosen ?? (needsLook && call.state === 'waiting')
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields
    <div
      role="group"
      aria-label={`${title}${server === undefined ? '' : ` from ${server}`}: ${stateLabel}`}
      data-call={call.tool}
      data-state={call.state}
      className={joinClassNames(
        'overflow-hidden rounded-card border bg-panel',
        call.state === 'waiting' ? 'border-caution' : 'border-line',
      )}
    >
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex min-h-9 w-full items-center gap-2 px-2.5 py-1.5 text-left hover:bg-hover focus-visible:-outline-offset-2"
      >
        <Icon aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
          <span className="shrink-0 font-medium">{title}</span>
          {server !== undefined && (
            <span className="shrink-0 rounded-small border border-line px-1 text-small text-muted">{server}</span>
          )}
          <span className="min-w-0 truncate font-mono text-small text-muted">{subjectName}</span>
        </span>
        <span className="flex shrink-0 items-center gap-1.5 text-small text-muted tabular-nums">
          {exitCode !== undefined && <span className="font-medium text-caution">exit {exitCode}</span>}
          {call.state === 'running' ? (call.note ?? '') : formatDuration(call)}
          <StateIcon role="img" aria-label={stateLabel} className={joinClassNames('size-3.5', look)} />
          <ChevronRight aria-hidden className={joinClassNames('size-3.5 transition-transform', open && 'rotate-90')} />
        </span>
      </button>
      {call.state === 'running' && call.live !== null && <LiveOutput text={call.live} />}
      {call.state === 'waiting' && <CallApproval call={call} />}
      {call.state === 'failed' && server !== undefined && <ChangedToolNotice call={call} />}
      <div id={id} hidden={!open} className="border-t border-line">
        {open && <CallDetails call={call} args={args} />}
      </div>
    </div>
  )
}

/** Output of a running command, scrolled to its end. */
function LiveOutput({ text }: { text: string }) {
  return (
    <div className="border-t border-line p-2.5">
      {/* Laid out from the end, so that the newest output is visible without scrolling. */}
      {/* biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields */}
      <div
        // Scrolls by itself, so the keyboard must reach it.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
        tabIndex={0}
        role="group"
        aria-label="Live output"
        className="flex max-h-48 flex-col-reverse overflow-auto rounded-control border border-line bg-canvas px-2.5 py-2"
      >
        <pre className="font-mono text-small break-words whitespace-pre-wrap">{stripControls(text)}</pre>
      </div>
    </div>
  )
}

/** Explains that a call did not run because its tool's description differs from the version that the user allowed. */
function ChangedToolNotice({ call: { tool: alias } }: { call: ChatCall }) {
  const { data: servers = [] } = useToolServers()
  const server = servers.find(({ name }) => name === parseServerName(alias))
  const tool = server?.tools.find((it) => it.alias === alias)
  if (!server || tool?.changed_from == null) return null
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line bg-caution-soft px-2.5 py-2">
      <p className="min-w-40 flex-1">{`“${server.name}” changed this tool. It is off until you review the change.`}</p>
      <Button size="small" variant="primary" onClick={() => goTo('settings', 'tool-servers')}>
        Review change
      </Button>
    </div>
  )
}
