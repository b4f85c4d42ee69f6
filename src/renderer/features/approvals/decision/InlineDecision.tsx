import { useEffect } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { describeIntent } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { toNoticeId } from '../everywhere/useNotices.ts'
import { useInbox } from '../inbox/useInbox.ts'
import { buildContentKey } from './buildContentKey.ts'
import { DecisionNotices } from './DecisionNotices.tsx'
import { IntentFields } from './IntentFields.tsx'
import { useArmed } from './useArmed.ts'
import { useDecision } from './useDecision.ts'

/** Decision on a request, embedded in another screen. The same rules apply as in the inbox. */
export function InlineDecision({ intentId }: { intentId: string }) {
  const { data: inbox, error, refetch } = useInbox()
  const record = inbox?.find(({ id }) => id === intentId)
  if (error && !inbox) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (!record) return <SkeletonRows label="Loading the request…" count={3} />
  return record.state === 'waiting' ? <Waiting record={record} /> : null
}

function Waiting({ record }: { record: IntentRecord }) {
  const { needsUnlock, busy, error, unlock, deny, approve } = useDecision(record)
  const armed = useArmed(`${buildContentKey(record)} ${needsUnlock}`)
  const { id } = record
  const headline = describeIntent(record)
  // Dismisses the request's notice, because the decision is in view.
  useEffect(() => notify.takeBack(toNoticeId(id)), [id])
  return (
    <section aria-label="Approval" className="flex flex-col gap-3">
      <p className="font-medium break-words">{headline}</p>
      {headline !== record.sentence && <p className="text-small break-words text-muted">{record.sentence}</p>}
      <DecisionNotices record={record} />
      <IntentFields record={record} />
      {error !== undefined && <ErrorNotice error={error} />}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-wrap items-center justify-end gap-2 rounded-b-dialog border-t border-line bg-raised px-4 py-3">
        <Button busy={busy === 'deny'} onClick={() => void deny()}>
          Deny
        </Button>
        {needsUnlock ? (
          <Button variant="primary" onClick={() => void unlock()}>
            Unlock wallet…
          </Button>
        ) : (
          record.decision === null && (
            <Button
              variant="primary"
              busy={busy === 'approve'}
              disabled={!armed || record.blocked_reason !== undefined}
              onClick={() => void approve()}
            >
              {record.needs_confirmation ? 'Approve once…' : 'Approve once'}
            </Button>
          )
        )}
      </div>
    </section>
  )
}
