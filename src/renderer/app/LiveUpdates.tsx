import { useQueryClient } from '@tanstack/react-query'
import type { Policy } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { useLiveEvent } from '../api/liveEvents.ts'
import { patchAndReadAgain, readAgain } from '../api/readAgain.ts'
import { useLiveLists } from '../api/useLiveLists.ts'
import { policyKey } from '../api/usePolicy.ts'
import { walletKey } from '../api/useWallet.ts'
import { goTo } from '../ui/route.ts'
import { markStale } from './staleKeys.ts'

/** Updates the cached data of all sections from events, and opens the target of a notification. */
export function LiveUpdates() {
  const queryClient = useQueryClient()
  useLiveLists()

  function follow(event: LocalEvent): void {
    markStale(queryClient, event)
    if (event.type === 'ready') {
      void readAgain(queryClient, walletKey)
      void readAgain(queryClient, policyKey)
    }
    if (event.type === 'wallet.changed') void readAgain(queryClient, walletKey)
    if (event.type === 'intent.show') goTo('approvals', event.intent_id)
    if (event.type === 'policy.changed') {
      void patchAndReadAgain<Policy>(queryClient, policyKey, () => event.policy)
    }
  }

  useLiveEvent(follow)
  return null
}
