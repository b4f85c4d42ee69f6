import { useEffect, useState } from 'react'
import { goTo, useRoute } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { describeRequester } from '#shared/contract/describeRequester.ts'
import { describeIntent } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'

/** Shows a notice for each new request. The notice opens the request and contains no decision buttons. */
export function useNotices(): { follow: (intent: IntentRecord) => void } {
  const [section] = useRoute()
  const [notices] = useState(() => new Map<string, () => void>())
  const isHere = section === 'approvals'
  useEffect(() => {
    if (!isHere) return
    for (const takeBack of notices.values()) takeBack()
  }, [isHere, notices])
  return {
    follow(intent) {
      const waits = intent.state === 'waiting' && intent.decision === null
      if (!waits) {
        notices.get(intent.id)?.()
        notices.delete(intent.id)
      }
      if (!waits || isHere || notices.has(intent.id)) return
      notices.set(intent.id, tell(intent))
    },
  }
}

export function toNoticeId(intentId: string): string {
  return `approval ${intentId}`
}

function tell(intent: IntentRecord): () => void {
  const { id, requester, reason } = intent
  const who = requester.kind === 'person' ? 'Waiting' : `${describeRequester(requester).name} asks`
  return notify.asked(`${who} for your approval`, {
    ...{
      id: toNoticeId(id),
      hint: reason === null ? describeIntent(intent) : `${describeIntent(intent)}. Reason given: “${reason}”`,
    },
    action: { label: 'Review', run: () => goTo('approvals', id) },
  })
}
