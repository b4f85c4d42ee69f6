import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { usePurchase } from '#renderer/ui/purchaseContext.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { getPricing } from '#shared/contract/credits.ts'
import { creditsKey } from '../useCredits.ts'

/** Amounts of credits for sale. Each opens its quote and payment. */
export function TopUpPanel({ isEmbedded }: { isEmbedded: boolean }) {
  const agent = useAgent()
  const openPurchase = usePurchase()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...creditsKey, 'pricing'],
    queryFn: ({ signal }) => agent(getPricing, {}, { signal }),
  })
  return (
    <Panel title="Top up" note={isEmbedded ? 'With test money, from your wallet' : 'With USDC, from your wallet'}>
      {isPending ? (
        <div className="p-3.5">
          <SkeletonRows label="Loading amounts…" count={1} />
        </div>
      ) : !data ? (
        <div className="p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      ) : data.payment_tiers.length === 0 ? (
        <NothingYet>This service sells no credits.</NothingYet>
      ) : (
        <ul aria-label="Amounts" className="flex flex-wrap gap-2 p-3.5">
          {data.payment_tiers.map(({ amount_usd: amountUsd }) => (
            <li key={amountUsd}>
              <Button onClick={() => openPurchase({ kind: 'topup', amountUsd })} className="min-w-16 tabular-nums">
                ${amountUsd.toLocaleString('en')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
