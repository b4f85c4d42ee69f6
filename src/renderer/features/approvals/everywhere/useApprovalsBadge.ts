import type { Badge } from '#renderer/ui/feature.ts'
import { useWaitingAccountRequests } from '../accountRequests/useAccountRequests.ts'
import { listWaiting } from '../inbox/inboxList.ts'
import { useInbox } from '../inbox/useInbox.ts'

export function useApprovalsBadge(): Badge | undefined {
  const count = useWaitingCount()
  if (count === 0) return undefined
  return { count, words: count === 1 ? '1 needs you' : `${count} need you` }
}

export function useWaitingCount(): number {
  const { data = [] } = useInbox()
  return listWaiting(data).length + useWaitingAccountRequests().length
}
