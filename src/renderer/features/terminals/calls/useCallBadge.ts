import { useAttentionRequests } from '#renderer/api/terminals/attentionRequests.ts'
import type { Badge } from '#renderer/ui/feature.ts'

export function useCallBadge(): Badge | undefined {
  const { length: count } = useAttentionRequests()
  if (count === 0) return undefined
  return { count, words: count === 1 ? '1 needs you' : `${count} need you` }
}
