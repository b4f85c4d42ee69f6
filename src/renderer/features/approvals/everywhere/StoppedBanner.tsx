import { OctagonX } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ResumeDialog } from './ResumeDialog.tsx'

/** Banner that explains why nothing is signed. */
export function StoppedBanner({ resume }: { resume: () => Promise<void> }) {
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
