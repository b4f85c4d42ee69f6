import { useState } from 'react'
import type { ChatCall } from '../../../../shared/contract/chatTools.ts'
import { decideIntent, getIntent } from '../../../../shared/contract/intents.ts'
import { useAgent } from '../../../agent/AgentProvider.tsx'
import { Button } from '../../../ui/Button.tsx'
import { goTo } from '../../../ui/place.ts'
import { notify } from '../../../ui/toast.tsx'

/** A call waits for the person, who decides here, or in Approvals where all of it is shown. */
export function CallApproval({ call: { intent_id: id, note } }: { call: ChatCall }) {
  const agent = useAgent()
  const [busy, setBusy] = useState(false)
  if (id === null) return null
  const review = () => goTo('approvals', id)
  const decide = async (approve: boolean) => {
    setBusy(true)
    try {
      const { kind } = await agent(getIntent, { intentId: id })
      // What moves money or signs is read as a whole before it is approved.
      if (approve && kind !== 'tool.call') review()
      else await agent(decideIntent, { intentId: id, approve })
    } catch (failure) {
      notify.failed(failure, { action: { label: 'Review', run: review } })
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line bg-caution-soft px-2.5 py-2">
      <p className="min-w-40 flex-1 break-words">{note ?? 'This needs your approval.'}</p>
      <Button size="small" onClick={review}>
        Review
      </Button>
      <Button size="small" disabled={busy} onClick={() => void decide(false)}>
        Deny
      </Button>
      <Button size="small" variant="primary" disabled={busy} onClick={() => void decide(true)}>
        Approve
      </Button>
    </div>
  )
}
