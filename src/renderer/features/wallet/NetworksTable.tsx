import { useQuery } from '@tanstack/react-query'
import { listNetworks } from '#shared/contract/wallet.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { AddressText } from '../../ui/AddressText.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'

const head = 'h-8 px-4 text-left text-small font-medium whitespace-nowrap text-faint'
const cell = 'h-9 px-4 align-middle whitespace-nowrap'

/** Networks on which the wallet signs payments, with the accepted token of each. */
export function NetworksTable() {
  const agent = useAgent()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['local', 'networks'],
    queryFn: ({ signal }) => agent(listNetworks, {}, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <section aria-labelledby="networks-title">
      <details>
        <summary id="networks-title" className="mb-2 w-fit cursor-pointer font-semibold text-text">
          Networks
        </summary>
        {isPending && <SkeletonRows label="Loading networks…" count={4} />}
        {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data && (
          <div className="overflow-x-auto rounded-card border border-line">
            <table className="w-full border-collapse">
              <thead className="bg-panel">
                <tr>
                  <th className={head}>Network</th>
                  <th className={head}>Chain ID</th>
                  <th className={head}>USDC</th>
                  <th className={head}>RPC</th>
                </tr>
              </thead>
              <tbody className="divide-y divide-line">
                {data.networks.map(({ id, name, test, chain_id: chainId, usdc_address: usdc, rpc_host: host }) => (
                  <tr key={id}>
                    <td className={cell}>
                      {name}
                      {test && <span className="ml-2 text-small text-faint">Testnet</span>}
                    </td>
                    <td className={`${cell} tabular-nums`}>{chainId ?? '–'}</td>
                    <td className={cell}>
                      <AddressText text={usdc} label={`Copy address of USDC on ${name}`} />
                    </td>
                    <td className={`${cell} text-muted`}>{host}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </details>
    </section>
  )
}
