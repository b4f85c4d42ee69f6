import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { solanaNetwork } from '../../../shared/contract/networks.ts'
import { type Balance, getBalances, type Wallet } from '../../../shared/contract/wallet.ts'
import { useAgent } from '../../agent/AgentProvider.tsx'

const everyMs = 60_000

export type Balances = ReturnType<typeof useBalances>

/** USDC and ether or SOL of the accounts of a network, read again each minute while they are in view. */
export function useBalances(network: string, { keyrings }: Wallet) {
  const agent = useAgent()
  const chain = solanaNetwork(network) ? 'solana' : 'evm'
  const accounts = keyrings.flatMap((keyring) => keyring.accounts).filter((it) => it.chain_type === chain)
  const read = useQuery({
    queryKey: ['local', 'balances', network, accounts.map(({ id }) => id).join()],
    queryFn: ({ signal }) => agent(getBalances, { network }, { signal }),
    refetchInterval: everyMs,
    placeholderData: (before) => (before?.network === network ? keepPreviousData(before) : undefined),
  })
  return {
    ...read,
    count: accounts.length,
    of: (id: string): Balance | undefined => read.data?.balances.find(({ account_id }) => account_id === id),
  }
}
