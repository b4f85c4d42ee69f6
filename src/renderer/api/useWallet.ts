import { useQuery } from '@tanstack/react-query'
import { getWallet } from '#shared/contract/wallet.ts'
import { useAgent } from './AgentProvider.tsx'

export const walletKey = ['local', 'wallet'] as const

/** Reads the wallet's state and accounts. `LiveUpdates` keeps them up to date. */
export function useWallet() {
  const agent = useAgent()
  return useQuery({ queryKey: walletKey, queryFn: ({ signal }) => agent(getWallet, {}, { signal }) })
}
