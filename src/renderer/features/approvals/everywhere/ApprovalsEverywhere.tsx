import { OctagonX } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useAccountNotice } from '../accountRequests/useAccountNotice.ts'
import { ResumeDialog } from './ResumeDialog.tsx'
import { stopQuestion } from './StopDialog.tsx'
import { useWaitingCount } from './useApprovalsBadge.ts'
import { useNotices } from './useNotices.ts'
import { useStopSwitch } from './useStopSwitch.ts'

/**
 * Mounted on every screen: shows notices for new requests, and a banner while signing is stopped.
 */
export function ApprovalsEverywhere() {
  const notices = useNotices()
  const { isStopped, stop, resume } = useStopSwitch()
  useTitleCount(useWaitingCount())
  useAccountNotice()
  useLiveEvent((event) => {
    if (event.type === 'intent.changed') notices.follow(event.intent)
  })
  useCommands([
    {
      id: 'approvals.stop',
      title: 'Stop everything',
      section: 'Approvals',
      icon: OctagonX,
      keywords: ['emergency', 'halt', 'refuse', 'panic', 'switch'],
      run: () => void stop().catch((error: unknown) => notify.failed(error, { title: 'Could not stop. Try again.' })),
      question: stopQuestion,
      enabled: !isStopped,
    },
  ])
  return isStopped ? <StoppedBanner resume={resume} /> : null
}

function useTitleCount(count: number): void {
  useEffect(() => {
    document.title = count === 0 ? 'Steward' : `(${count}) Steward`
  }, [count])
}

/** Banner that explains why nothing is signed. */
function StoppedBanner({ resume }: { resume: () => Promise<void> }) {
  const [isQuestionOpen, setQuestionOpen] = useState(false)
  return (
    <div
      role="status"
      className="flex flex-wrap items-center justify-center gap-x-3 gap-y-1 border-b border-line bg-negative-soft px-3 py-1.5"
    >
      <OctagonX aria-hidden className="size-4 shrink-0 text-negative" />
      <p>
        <strong className="font-semibold">Everything is stopped.</strong> Signing, payments, tools, models and
        remembered approvals are refused until you resume.
      </p>
      <Button size="small" onClick={() => setQuestionOpen(true)}>
        Resume…
      </Button>
      <ResumeDialog open={isQuestionOpen} onOpenChange={setQuestionOpen} resume={resume} />
    </div>
  )
}
