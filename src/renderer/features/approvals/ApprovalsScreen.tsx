import { OctagonX, Play, ShieldCheck } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { addressOf, usePlace } from '../../ui/place.ts'
import { ScreenHeader } from '../../ui/ScreenHeader.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { AccountRequestCards } from './accountRequests/AccountRequestCards.tsx'
import { useWaitingAccountRequests } from './accountRequests/useAccountRequests.ts'
import { DecisionView } from './decision/DecisionView.tsx'
import { ResumeDialog } from './everywhere/ResumeDialog.tsx'
import { useStopSwitch } from './everywhere/useStopSwitch.ts'
import { InboxList } from './inbox/InboxList.tsx'
import { type Inbox, waitingOf } from './inbox/inboxList.ts'
import { useInbox } from './inbox/useInbox.ts'

/** What waits and what was decided at the left, one of them in full beside it, and the stop switch above both. */
export function ApprovalsScreen() {
  const { data, error, isPending, refetch } = useInbox()
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)]">
      <div>
        <StopHeader />
        <AccountRequestCards />
      </div>
      {isPending ? (
        <div className="w-80 p-4 max-narrow:w-auto">
          <SkeletonRows label="Reading the inbox…" count={4} rowClassName="h-12" />
        </div>
      ) : error ? (
        <div className="p-6">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      ) : (
        <InboxPanes inbox={data} />
      )}
    </div>
  )
}

function InboxPanes({ inbox }: { inbox: Inbox }) {
  const [, named] = usePlace()
  const first = waitingOf(inbox)[0]?.id
  useEffect(() => {
    // Opened without one in mind: the newest that waits. It stays in view when others come.
    if (named === undefined && first !== undefined) window.location.replace(addressOf('approvals', first))
  }, [named, first])
  const record = inbox.find(({ id }) => id === named)
  const next = waitingOf(inbox).find(({ id }) => id !== named)?.id
  if (inbox.length === 0) return <NothingYet />
  return (
    <div className="grid min-h-0 grid-cols-[20rem_minmax(0,1fr)] grid-rows-[minmax(0,1fr)] max-narrow:grid-cols-1 max-narrow:grid-rows-[auto_minmax(0,1fr)]">
      <InboxList inbox={inbox} present={named} />
      {record ? (
        <DecisionView key={record.id} record={record} next={next} />
      ) : (
        <NothingChosen isGone={named !== undefined} />
      )}
    </div>
  )
}

function StopHeader() {
  const { isStopped, stop, resume } = useStopSwitch()
  const [asked, setAsked] = useState(false)
  return (
    <ScreenHeader
      title="Approvals"
      words="Nothing that your policies leave to you is signed before you approve it here."
      actions={
        isStopped ? (
          <Button icon={Play} onClick={() => setAsked(true)}>
            Resume…
          </Button>
        ) : (
          <Button variant="danger" icon={OctagonX} onClick={stop}>
            Stop everything
          </Button>
        )
      }
    >
      <ResumeDialog open={asked} onOpenChange={setAsked} resume={resume} />
    </ScreenHeader>
  )
}

function NothingYet() {
  const isAsked = useWaitingAccountRequests().length > 0
  return (
    <EmptyState
      icon={ShieldCheck}
      title={isAsked ? 'Nothing to sign' : 'Nothing waits for you'}
      description="When a program, a tool or a site wants your wallet to sign, it waits here: what it is in one sentence, who asks, and all that would be signed."
    >
      <p>
        <a href={addressOf('settings', 'policies')} className="font-medium text-accent hover:underline">
          Policies
        </a>{' '}
        say what is signed without a question, and what is refused.
      </p>
    </EmptyState>
  )
}

function NothingChosen({ isGone }: { isGone: boolean }) {
  return (
    <EmptyState
      icon={ShieldCheck}
      title={isGone ? 'This request is no longer kept' : 'Nothing waits for you'}
      description={
        isGone ? 'The log in Activity tells what became of it.' : 'Choose one that was decided to see it in full.'
      }
    />
  )
}
