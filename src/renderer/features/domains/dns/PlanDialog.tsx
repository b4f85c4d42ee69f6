import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { AppError } from '#shared/appError.ts'
import { applyPlan, type DnsPlan, type DnsPlanStep } from '#shared/contract/localDomains.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'

type PlanDialogProps = {
  plan: DnsPlan
  onClose: () => void
  /** Called when all steps are done. */
  onApplied: (plan: DnsPlan) => void
  /** Called if the zone has changed in the meantime. The same changes are then compared with its current state. */
  onReviewAgain: () => void
  /** Reverts the applied changes. */
  onUndo: (plan: DnsPlan) => void
}

/** Changes of a plan, later with their results. */
export function PlanDialog({ plan, onClose, onApplied, onReviewAgain, onUndo }: PlanDialogProps) {
  const agent = useAgent()
  const applying = useMutation({
    mutationFn: () => agent(applyPlan, { planId: plan.id }),
    onSuccess: (result) => result.state === 'applied' && onApplied(result),
  })
  const current = applying.data ?? plan
  const isMoved = applying.error instanceof AppError && applying.error.code === 'dns/moved'
  const isFailed = current.state === 'failed'
  const count = plan.steps.length
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !applying.isPending && onClose()}
      title={plan.undo_of ? `Undo changes to ${plan.domain}` : `Changes to ${plan.domain}`}
      description={count === 0 ? 'The records already match.' : count === 1 ? '1 change.' : `${count} changes.`}
      width="wide"
      footer={
        <>
          <Button onClick={onClose} disabled={applying.isPending}>
            {count === 0 || isFailed ? 'Close' : 'Cancel'}
          </Button>
          {isFailed && current.steps.some(({ state }) => state === 'done') && (
            <Button onClick={() => onUndo(current)}>Undo applied changes</Button>
          )}
          {isMoved ? (
            <Button variant="primary" onClick={onReviewAgain}>
              Review again
            </Button>
          ) : (
            count > 0 &&
            !isFailed && (
              <Button variant="primary" busy={applying.isPending} onClick={() => applying.mutate()}>
                Apply
              </Button>
            )
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {applying.error && <ErrorNotice error={applying.error} />}
        {isFailed && (
          <p role="alert" className="rounded-card border border-line bg-negative-soft p-3">
            <span className="font-medium">Some changes were not applied.</span> {current.error}
          </p>
        )}
        <ul aria-label="Changes" className="flex flex-col">
          {current.steps.map((step, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps of a plan keep their order
            <StepRow key={at} step={step} />
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

const words = { add: 'Add', change: 'Change', remove: 'Remove' } as const
const signs = {
  add: { sign: '+', tone: 'text-positive' },
  change: { sign: '~', tone: 'text-caution' },
  remove: { sign: '−', tone: 'text-negative' },
} as const

/** Row for one change of a plan, with its sign and, after applying, its result. */
export function StepRow({ step }: { step: DnsPlanStep }) {
  const { sign, tone } = signs[step.action]
  const record = step.action === 'remove' ? step.before : step.after
  return (
    <li className="flex items-start gap-2.5 border-b border-line py-1.5" data-action={step.action}>
      <span aria-hidden className={`w-3 shrink-0 text-center font-mono ${tone}`}>
        {sign}
      </span>
      <span className="sr-only">{words[step.action]}</span>
      <span className="w-14 shrink-0 font-medium">{record.type}</span>
      <span className="w-32 shrink-0 truncate font-mono text-small" title={record.host}>
        {record.host}
      </span>
      <span className="min-w-0 flex-1 font-mono text-small break-words">
        {step.action === 'change' && <del className="block text-muted">{formatData(step.before)}</del>}
        <span>{formatData(record)}</span>
      </span>
      {step.state === 'done' && <CircleCheck role="img" aria-label="Done" className="size-4 text-positive" />}
      {step.state === 'failed' && <CircleX role="img" aria-label="Failed" className="size-4 text-negative" />}
    </li>
  )
}

function formatData({ value, ttl, distance }: DnsRecordData): string {
  return `${distance === null ? '' : `${distance} `}${value} · ${ttl}\u00a0s`
}
