import { Button } from '#renderer/ui/Button.tsx'
import type { ClipboardAnswer, ClipboardRequests } from './clipboardRequests.ts'
import { useObservable } from './observable.ts'

const maxUnits = 600

type ClipboardAskProps = { requests: ClipboardRequests; onAnswered: () => void }

/** Request of a program to set the clipboard. Takes no focus, so that typing continues. */
export function ClipboardAsk({ requests, onAnswered }: ClipboardAskProps) {
  const text = useObservable(requests.asked)
  if (text === undefined) return null
  const answer = (choice: ClipboardAnswer) => {
    requests.answer(choice)
    onAnswered()
  }
  return (
    <section
      aria-label="A program wants to copy"
      className="animate-appear absolute top-2 right-5 z-20 w-96 max-w-[calc(100%-2rem)] rounded-card bg-raised p-3 shadow-popover"
    >
      <p role="status" className="font-medium text-text">
        This program wants to copy to the clipboard
      </p>
      <pre className="my-2 max-h-28 overflow-hidden rounded-control border border-line bg-panel px-2 py-1 font-mono text-small break-all whitespace-pre-wrap text-text">
        {text.length > maxUnits ? `${text.slice(0, maxUnits)}…` : text}
      </pre>
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 text-small text-faint">Your answer holds for this terminal.</p>
        <Button size="small" onClick={() => answer('refuse')}>
          Refuse
        </Button>
        <Button size="small" variant="primary" onClick={() => answer('allow')}>
          Allow
        </Button>
      </div>
    </section>
  )
}
