import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import {
  addWalletLink,
  chooseSignInWallet,
  getSignInWallet,
  listWalletLinks,
  removeWalletLink,
  type SignInWallet,
  type WalletLinks,
} from '#shared/contract/walletLinks.ts'

export const walletLinksKey = ['settings', 'wallet links'] as const
export const signInWalletKey = ['settings', 'sign-in wallet'] as const

/** Reads the wallets that sign in to the account, and the accounts of this wallet that do not. */
export function useWalletLinks() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const query = useQuery({
    queryKey: walletLinksKey,
    queryFn: ({ signal }) => agent(listWalletLinks, {}, { signal }),
    staleTime: 0,
  })
  const settle = async (change: Promise<WalletLinks>): Promise<void> => {
    queryClient.setQueryData(walletLinksKey, await change)
  }
  return {
    ...query,
    /** Rejects with the error of the request. */
    link: (id: WalletAccountId) => settle(agent(addWalletLink, { account_id: id })),
    unlink: (address: string) => settle(agent(removeWalletLink, { address })),
  }
}

export function useSignInWallet() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const query = useQuery({
    queryKey: signInWalletKey,
    queryFn: ({ signal }) => agent(getSignInWallet, {}, { signal }),
    staleTime: 0,
  })
  return {
    ...query,
    async choose(id: WalletAccountId): Promise<void> {
      const chosen: SignInWallet = await agent(chooseSignInWallet, { account_id: id })
      queryClient.setQueryData(signInWalletKey, chosen)
    },
  }
}
