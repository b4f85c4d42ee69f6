import { OctagonX, Play, ShieldCheck } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { buildAddress, useRoute } from '../../ui/route.ts'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { AccountRequestCards } from './accountRequests/AccountRequestCards.tsx'
import { useWaitingAccountRequests } from './accountRequests/useAccountRequests.ts'
import { DecisionView } from './decision/DecisionView.tsx'
import { ResumeDialog } from './everywhere/ResumeDialog.tsx'
import { StopDialog } from './everywhere/StopDialog.tsx'
import { useStopSwitch } from './everywhere/useStopSwitch.ts'
import { InboxList } from './inbox/InboxList.tsx'
import { listWaiting } from './inbox/inboxList.ts'
import { useInbox } from './inbox/useInbox.ts'

/** Inbox of requests with the selected request beside it. The stop switch and account requests are shown above. */
export function ApprovalsScreen() {
  const { data: inbox, error, isPending, refetch } = useInbox()
  const [, named] = useRoute()
  const waiting = listWaiting(inbox ?? [])
  const first = waiting[0]?.id
  useEffect(() => {
    // Selects the newest pending request if the address contains none. The selection remains when further requests
    // arrive.
    if (named === undefined && first !== undefined) window.location.replace(buildAddress('approvals', first))
  }, [named, first])
  const record = inbox?.find(({ id }) => id === named)
  return (
    <PageFrame
      title="Approvals"
      count={waiting.length > 0 ? waiting.length : undefined}
      actions={<StopSwitch />}
      bar={<AccountRequestCards />}
      list={inbox?.length ? { label: 'Requests', content: <InboxList inbox={inbox} present={named} /> } : undefined}
    >
      {isPending ? (
        <PageColumn className="py-5">
          <SkeletonRows label="Loading requests…" count={4} rowClassName="h-12" />
        </PageColumn>
      ) : error ? (
        <PageColumn className="py-5">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </PageColumn>
      ) : inbox.length === 0 ? (
        <NothingYet />
      ) : record ? (
        <DecisionView key={record.id} record={record} next={waiting.find(({ id }) => id !== named)?.id} />
      ) : (
        <NothingChosen isMissing={named !== undefined} />
      )}
    </PageFrame>
  )
}

function StopSwitch() {
  const { isStopped, stop, resume } = useStopSwitch()
  const [isQuestionOpen, setQuestionOpen] = useState(false)
  const [stopping, setStopping] = useState(false)
  return (
    <>
      {isStopped ? (
        <Button size="small" icon={Play} onClick={() => setQuestionOpen(true)}>
          Resume…
        </Button>
      ) : (
        <Button size="small" variant="danger" icon={OctagonX} onClick={() => setStopping(true)}>
          Stop everything
        </Button>
      )}
      <StopDialog open={stopping} onOpenChange={setStopping} stop={stop} />
      <ResumeDialog open={isQuestionOpen} onOpenChange={setQuestionOpen} resume={resume} />
    </>
  )
}

function NothingYet() {
  const hasRequests = useWaitingAccountRequests().length > 0
  return (
    <EmptyState
      icon={ShieldCheck}
      title={hasRequests ? 'Nothing to sign' : 'All caught up'}
      description="Requests your policies don’t decide wait here."
    >
      <p>
        <a href={buildAddress('settings', 'policies')} className="font-medium text-accent hover:underline">
          Policies
        </a>{' '}
        decide which requests are signed or refused without you.
      </p>
    </EmptyState>
  )
}

function NothingChosen({ isMissing }: { isMissing: boolean }) {
  return (
    <EmptyState
      icon={ShieldCheck}
      title={isMissing ? 'Request not found' : 'All caught up'}
      description={isMissing ? 'Activity shows what happened to it.' : 'Choose a decided request to see its details.'}
    />
  )
}
