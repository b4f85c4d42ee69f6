import { Tooltip } from '#renderer/ui/Tooltip.tsx'
import type { Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import { isUnderWay } from '../data/MessageStreamsProvider.tsx'
import { useModels } from '../data/useModels.ts'
import { isPriced } from '../models/modelGroups.ts'
import { formatCost, formatTokens } from './amounts.ts'

/** Cost of a response: estimated while it streams, exact afterwards. A tooltip lists its components. */
export function MessageCost({ message }: { message: Message }) {
  const { usage } = message
  const { data: models } = useModels()
  if (!usage) return null
  const about = usage.estimated ? '~' : ''
  const isUnknown =
    usage.cost_micro_usd === 0 && models?.some((model) => model.id === message.model && !isPriced(model))
  const cost = isUnknown ? 'Price unknown' : `${about}${formatCost(usage.cost_micro_usd)}`
  return (
    <Tooltip content={<CostParts usage={usage} isLive={isUnderWay(message)} />}>
      <button
        type="button"
        aria-label={`Cost: ${usage.estimated ? 'about ' : ''}${formatCost(usage.cost_micro_usd)}, ${formatTokens(usage.input_tokens + usage.output_tokens)} tokens`}
        className="ml-1 cursor-default rounded-small px-1 text-small text-faint tabular-nums hover:text-muted"
      >
        {cost} · {formatTokens(usage.input_tokens + usage.output_tokens)} tokens
      </button>
    </Tooltip>
  )
}

function CostParts({ usage, isLive }: { usage: MessageUsage; isLive: boolean }) {
  const saved = usage.saved_micro_usd
  const rows: [string, string][] = [
    ['Input', formatTokens(usage.input_tokens)],
    ...(usage.cached_tokens > 0 ? ([['Cached input', formatTokens(usage.cached_tokens)]] as [string, string][]) : []),
    ['Output', formatTokens(usage.output_tokens)],
    ...(usage.reasoning_tokens > 0
      ? ([['Reasoning', formatTokens(usage.reasoning_tokens)]] as [string, string][])
      : []),
    ...(saved !== 0
      ? ([[saved > 0 ? 'Saved by caching' : 'Cache writes', formatCost(Math.abs(saved))]] as [string, string][])
      : []),
    ['Cost', `${formatCost(usage.cost_micro_usd)}${usage.estimated ? (isLive ? ' so far' : ' (estimate)') : ''}`],
  ]
  return (
    <span className="grid grid-cols-[auto_auto] gap-x-4 gap-y-0.5 tabular-nums">
      {rows.map(([label, value]) => (
        <span key={label} className="contents">
          <span className="text-muted">{label}</span>
          <span className="text-right">{value}</span>
        </span>
      ))}
    </span>
  )
}
