import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Tooltip } from '#renderer/ui/Tooltip.tsx'
import type { estimateMessage } from '#shared/contract/chatMoney.ts'
import type { Output } from '#shared/contract/route.ts'
import { useModels } from '../data/useModels.ts'
import { isPriced } from '../models/modelGroups.ts'
import { formatCost, formatTokens } from '../money/amounts.ts'
import { formatEstimate } from '../money/formatEstimate.ts'

/** Estimated minimum and maximum cost of the message; a tooltip lists each model. */
export function EstimateLine({ estimate }: { estimate: Output<typeof estimateMessage> | undefined }) {
  const { data: models } = useModels()
  if (!estimate) return null
  const { refusal, estimates } = estimate
  if (refusal) {
    return (
      <Tooltip side="top" content={refusal.message}>
        <button type="button" className="min-w-0 cursor-default px-1.5 text-left text-small text-negative">
          Over your limit
        </button>
      </Tooltip>
    )
  }
  const unpriced = estimates.filter(({ model }) =>
    models?.some((candidate) => candidate.id === model && !isPriced(candidate)),
  )
  if (unpriced.length > 0) {
    return (
      <span data-estimate className="px-1.5 text-small text-faint">
        Price unknown
      </span>
    )
  }
  return (
    <Tooltip
      side="top"
      content={
        <span className="flex flex-col gap-0.5 tabular-nums">
          <span className="text-muted">Cost of the input, and maximum cost with the longest response</span>
          {estimates.map((item) => (
            <span key={item.model}>
              {item.model}: {formatCost(item.min_micro_usd)} to {formatCost(item.max_micro_usd)}, up to{' '}
              {formatTokens(item.max_output_tokens)} tokens out
              {item.omitted_messages > 0 && `; omits ${item.omitted_messages} old messages`}
            </span>
          ))}
        </span>
      }
    >
      <button
        type="button"
        data-estimate
        className={joinClassNames(
          'cursor-default rounded-small px-1.5 text-small text-faint tabular-nums hover:text-muted',
        )}
      >
        {formatEstimate(estimate)}
      </button>
    </Tooltip>
  )
}
