import { useQueryClient } from '@tanstack/react-query'
import type { Policy } from '../../shared/contract/intents.ts'
import type { LocalEvent } from '../../shared/contract/localApi.ts'
import { useLiveEvent } from '../agent/liveEvents.ts'
import { patchAndReadAgain, readAgain } from '../agent/readAgain.ts'
import { policyKey } from '../agent/usePolicy.ts'
import { walletKey } from '../agent/useWallet.ts'
import { goTo } from '../ui/place.ts'

/** Keeps what several sections show as it is: the wallet's state, and the policy with its stop switch; goes where a notification leads. */
export function LiveKeeper() {
  const queryClient = useQueryClient()

  function follow(event: LocalEvent): void {
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
