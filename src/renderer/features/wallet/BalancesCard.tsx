import { CloudOff, RotateCw } from 'lucide-react'
import { evmNetworks, findSolanaNetwork, solanaNetworks } from '#shared/contract/networks.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { IconButton } from '../../ui/IconButton.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { formatEther, formatSol, sumAmounts } from './tokenText.ts'
import type { Balances } from './useBalances.ts'

type BalancesCardProps = {
  network: string
  onNetwork: (id: string) => void
  hasSolana: boolean
  balances: Balances
  /** Test USDC in millionths; undefined if the service has no test ledger. */
  testUsdc: string | undefined
}

/** Balances of all accounts on one network. */
export function BalancesCard({ network, onNetwork, hasSolana, balances, testUsdc }: BalancesCardProps) {
  const { data, error, isPending, isFetching, refetch } = balances
  const usdc = sumAmounts(data?.balances.map((it) => it.usdc))
  const coin = sumAmounts(data?.balances.map((balance) => balance.ether ?? balance.lamports))
  const [coinName, coinText] = findSolanaNetwork(network)
    ? (['SOL', formatSol] as const)
    : (['Ether', formatEther] as const)
  const asOf = data?.balances[0]?.as_of ?? null
  return (
    <section aria-label="Balances" className="rounded-card border border-line bg-panel">
      <div className="flex flex-wrap items-end gap-x-8 gap-y-3 p-4">
        <Figure label="USDC" value={usdc === undefined ? undefined : formatUsd(usdc, 'exact')} isPending={isPending} />
        <Figure label={coinName} value={coin === undefined ? undefined : coinText(coin)} isPending={isPending} />
        {testUsdc !== undefined && <Figure label="Test USDC" value={formatUsd(testUsdc, 'exact')} isPending={false} />}
        <div className="flex-1" />
        <div className="flex items-center gap-2">
          {asOf !== null && (
            <span className="text-small text-faint">
              Updated <TimeAgo at={asOf} spelled />
            </span>
          )}
          <div className="w-40">
            <Select
              label="Network"
              labelHidden
              value={network}
              onChange={onNetwork}
              options={[...evmNetworks, ...(hasSolana ? solanaNetworks : [])].map(({ id, name, test }) => ({
                value: id,
                label: name,
                ...(test && { detail: 'Testnet' }),
              }))}
            />
          </div>
          <IconButton label="Refresh balances" icon={RotateCw} disabled={isFetching} onClick={() => void refetch()} />
        </div>
      </div>
      {data?.source === 'stale' && (
        <p role="status" className="flex items-start gap-2 border-t border-line px-4 py-2 text-muted">
          <CloudOff aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
          <span className="min-w-0 break-words">
            {asOf === null ? 'Balances unavailable.' : 'Balances may be out of date.'} {data.detail}
          </span>
        </p>
      )}
      {error && !data && (
        <div className="border-t border-line p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </section>
  )
}

function Figure({ label, value, isPending }: { label: string; value: string | undefined; isPending: boolean }) {
  return (
    <div className="min-w-28">
      <p className="text-small text-faint">{label}</p>
      {isPending ? (
        <Skeleton className="mt-1.5 h-5 w-24" />
      ) : (
        <output aria-label={label} className="block text-large font-semibold text-text tabular-nums">
          {value ?? '–'}
        </output>
      )}
    </div>
  )
}
