import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { findSolanaNetwork, testLedgerNetwork } from '#shared/contract/networks.ts'
import { type Balance, getBalances, type Wallet } from '#shared/contract/wallet.ts'
import { getWalletInfo } from '#shared/contract/walletInfo.ts'
import { useAgent, useConnection } from '../../api/AgentProvider.tsx'
import { balancesKey } from '../../api/useWallet.ts'

const everyMs = 60_000

export type Balances = ReturnType<typeof useBalances>

/** Reads the USDC and native balances of the accounts on a network. Polled every minute while visible. */
export function useBalances(network: string, { keyrings }: Wallet) {
  const agent = useAgent()
  const chain = findSolanaNetwork(network) ? 'solana' : 'evm'
  const accounts = keyrings.flatMap((keyring) => keyring.accounts).filter((it) => it.chain_type === chain)
  const read = useQuery({
    queryKey: [...balancesKey, network, accounts.map(({ id }) => id).join()],
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

/** Reads the paying account's test USDC, in millionths. Only the embedded service has a test ledger. */
export function useTestUsdc(): string | undefined {
  const agent = useAgent()
  const isEmbedded = useConnection()?.kind === 'embedded'
  const { data } = useQuery({
    queryKey: [...balancesKey, testLedgerNetwork.id],
    queryFn: ({ signal }) => agent(getWalletInfo, { network: testLedgerNetwork.id }, { signal }),
    enabled: isEmbedded,
    refetchInterval: everyMs,
    staleTime: 0,
    retry: false,
  })
  return data?.usdc ?? undefined
}
