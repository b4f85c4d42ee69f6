import type { ReactNode } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { goTo } from '#renderer/ui/route.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { revealHidden, sanitizeLine } from '#shared/untrustedText.ts'
import { formatCost } from '../money/amounts.ts'
import { type CallArguments, formatDnsLines, stripControls } from './callLabels.ts'

type CallDetailsProps = { call: ChatCall; args: CallArguments | undefined }

/** Arguments and result of a call, rendered as text because they are untrusted. */
export function CallDetails({ call, args }: CallDetailsProps) {
  const changes = formatDnsLines(call, args)
  const cost = readCost(call)
  return (
    <div className="flex flex-col gap-2.5 p-2.5">
      {changes ? (
        <Part title={`DNS of ${sanitizeLine(String(args?.domain ?? ''), 255)}`}>
          <Lines label="DNS changes">
            {changes.map(({ sign, text }) => (
              <span
                key={sign}
                className={joinClassNames('block', sign === '+' ? 'text-positive' : 'text-negative')}
              >{`${sign} ${text}`}</span>
            ))}
          </Lines>
        </Part>
      ) : (
        <Part title="Arguments">
          <Lines label="Arguments">{revealHidden(args ? JSON.stringify(args, null, 2) : call.arguments)}</Lines>
        </Part>
      )}
      {cost !== undefined && <Part title="Cost">{formatCost(cost)}</Part>}
      {call.output !== null && <Result call={call} output={call.output} />}
      <TerminalButton call={call} args={args} />
    </div>
  )
}

function Result({ call: { tool, state, result }, output }: { call: ChatCall; output: string }) {
  if (state === 'done' && tool === 'sandbox_exec' && result) {
    const { stdout, stderr, exit_code: code } = result
    return (
      <Part title={`Terminal, exit code ${String(code)}`}>
        <Lines label="Output" isTerminal>
          {stripControls(String(stdout ?? ''))}
          {String(stderr ?? '') !== '' && <span className="text-caution">{stripControls(String(stderr))}</span>}
        </Lines>
      </Part>
    )
  }
  const isScreen = state === 'done' && tool === 'sandbox_pty_read'
  const text = isScreen && typeof result?.output === 'string' ? result.output : output
  return (
    <Part title={isScreen ? 'Terminal' : 'Result'}>
      <Lines label="Result" isTerminal={isScreen}>
        {stripControls(text)}
      </Lines>
    </Part>
  )
}

function TerminalButton({ call: { tool, result }, args }: CallDetailsProps) {
  const of = (name: string) => result?.[name] ?? args?.[name]
  const [sandbox, session] = [tool === 'sandbox_create' ? result?.id : of('sandbox_id'), of('session_id')]
  if (!tool.startsWith('sandbox_') || tool === 'sandbox_delete' || typeof sandbox !== 'string') return null
  const parts = typeof session === 'string' ? [sandbox, 'terminal', session] : [sandbox]
  return (
    <div>
      <Button size="small" onClick={() => goTo('terminals', ...parts)}>
        {typeof session === 'string' ? 'Open terminal' : 'Open sandbox'}
      </Button>
    </div>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-small font-medium text-muted">{title}</p>
      {children}
    </div>
  )
}

function Lines({ label, isTerminal = false, children }: { label: string; isTerminal?: boolean; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields
    <pre
      // Scrolls by itself, so the keyboard must reach it.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      role="group"
      aria-label={label}
      className={joinClassNames(
        'max-h-80 overflow-auto rounded-control border border-line px-2.5 py-2 font-mono text-small break-words whitespace-pre-wrap',
        isTerminal ? 'bg-canvas' : 'bg-control',
      )}
    >
      {children}
    </pre>
  )
}

/** Returns the paid amount in micro-dollars. */
function readCost({ result }: ChatCall): number | undefined {
  const paid = result?.payment
  const amount = typeof paid === 'object' && paid !== null && 'amount_usd' in paid ? paid.amount_usd : undefined
  return typeof amount === 'number' ? Math.round(amount * 1_000_000) : undefined
}
