import { type QueryClient, useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { patchAndRefetch } from '#renderer/api/readAgain.ts'
import { type IntentRecord, listIntents } from '#shared/contract/intents.ts'
import { type Inbox, mergeInboxes, withIntent } from './inboxList.ts'

export const inboxKey = ['approvals', 'inbox'] as const

/** Reads pending and recent requests. */
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

export function patchInbox(queryClient: QueryClient, intent: IntentRecord): void {
  void patchAndRefetch<Inbox>(queryClient, inboxKey, (inbox) => withIntent(inbox, intent))
}
