import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { type DnsPlan, listPlans } from '#shared/contract/localDomains.ts'
import { domainsKey } from '../useDomains.ts'
import { StepRow } from './PlanDialog.tsx'
import { formatPlanHeading, listAppliedPlans } from './planHistory.ts'

type HistoryDialogProps = { zone: string; onClose: () => void; onUndo: (planId: string) => void }

/** Changes applied to the zone in this window, newest first, with diff and undo. */
export function HistoryDialog({ zone, onClose, onUndo }: HistoryDialogProps) {
  const agent = useAgent()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...domainsKey, 'history', zone],
    queryFn: async ({ signal }) => (await agent(listPlans, { domain: zone }, { signal })).plans,
    staleTime: 0,
  })
  const plans = listAppliedPlans(data ?? [])
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`History of ${zone}`}
      description="Changes that you applied. You review an undo like any other change."
      width="wide"
      footer={<Button onClick={onClose}>Close</Button>}
    >
      {isPending ? (
        <SkeletonRows label="Loading history…" count={3} rowClassName="h-10" />
      ) : error && !data ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="flex flex-col gap-3">
          {plans.length === 0 && <p className="text-muted">No changes applied yet.</p>}
          <ol aria-label="Changes, newest first" className="flex flex-col gap-2">
            {plans.map((plan) => (
              <PlanRow key={plan.id} plan={plan} onUndo={() => onUndo(plan.id)} />
            ))}
          </ol>
          <p className="text-muted">
            Changes by agents, programs and API keys are in{' '}
            <a href={buildAddress('activity', 'domain', zone)} className="font-medium text-accent hover:underline">
              Activity
            </a>
            .
          </p>
        </div>
      )}
    </Dialog>
  )
}

function PlanRow({ plan, onUndo }: { plan: DnsPlan; onUndo: () => void }) {
  return (
    <li className="rounded-card border border-line px-3 py-2">
      <div className="flex items-center gap-3">
        <p className="min-w-0 flex-1">
          <span className="font-medium">{formatPlanHeading(plan)}</span>
          <span className="text-muted">
            {' '}
            · You ·{' '}
            <time dateTime={plan.created_at}>
              {new Date(plan.created_at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
            </time>
          </span>
        </p>
        <Button size="small" onClick={onUndo}>
          Undo…
        </Button>
      </div>
      <ul aria-label="Changes" className="mt-1 flex flex-col">
        {plan.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps of a plan keep their order
          <StepRow key={index} step={step} />
        ))}
      </ul>
    </li>
  )
}
