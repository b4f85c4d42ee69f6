import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { patchAndRefetch, readAgain } from '#renderer/api/readAgain.ts'
import { listIntents } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { type Inbox, mergeInboxes, withIntent } from './inboxList.ts'

const inboxKey = ['approvals', 'inbox'] as const

/** Reads pending and recent requests. `ApprovalsEverywhere` keeps them up to date. */
export function useInbox() {
  const agent = useAgent()
  return useQuery({
    queryKey: inboxKey,
    queryFn: async ({ signal }): Promise<Inbox> => {
      const [waiting, latest] = await Promise.all([
        agent(listIntents, { state: 'waiting', limit: 200 }, { signal }),
        agent(listIntents, { limit: 100 }, { signal }),
      ])
      return mergeInboxes(waiting.intents, latest.intents)
    },
  })
}

export function followInbox(queryClient: QueryClient, event: LocalEvent): void {
  if (event.type === 'ready') void readAgain(queryClient, inboxKey)
  if (event.type !== 'intent.changed') return
  void patchAndRefetch<Inbox>(queryClient, inboxKey, (inbox) => withIntent(inbox, event.intent))
}
