import { useQuery } from '@tanstack/react-query'
import { getWallet } from '#shared/contract/wallet.ts'
import { useAgent } from './AgentProvider.tsx'

export const walletKey = ['local', 'wallet'] as const
export const balancesKey = ['local', 'balances'] as const

/** Reads the wallet's state and accounts. */
export function useWallet() {
  const agent = useAgent()
  return useQuery({ queryKey: walletKey, queryFn: ({ signal }) => agent(getWallet, {}, { signal }) })
}
