import { Brain, ChevronRight } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import type { Message } from '#shared/contract/chatMessages.ts'
import { isUnderWay } from '../data/MessageStreamsProvider.tsx'
import { PlainText } from '../markdown/PlainText.tsx'
import { formatTokens } from '../money/amounts.ts'

/** Reasoning of the model, collapsed. */
export function Reasoning({ message }: { message: Message }) {
  const [open, setOpen] = useState(false)
  const id = useId()
  const isThinking = isUnderWay(message) && message.text === ''
  const seconds = useThinkingTime(message, isThinking)
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="-ml-1.5 inline-flex h-6 items-center gap-1.5 rounded-small px-1.5 text-small text-muted hover:bg-hover hover:text-text"
      >
        <Brain aria-hidden className={joinClassNames('size-3.5', isThinking && 'animate-breathe')} />
        {describeReasoning({ isThinking, seconds, count: message.usage?.reasoning_tokens ?? 0 })}
        <ChevronRight aria-hidden className={joinClassNames('size-3.5 transition-transform', open && 'rotate-90')} />
      </button>
      <div id={id} hidden={!open} className="mt-1 border-l-2 border-line pl-3 text-muted">
        {open && <PlainText text={message.reasoning} />}
      </div>
    </div>
  )
}

type ReasoningState = { isThinking: boolean; seconds: number | undefined; count: number }

export function describeReasoning({ isThinking, seconds, count }: ReasoningState): string {
  const time = seconds === undefined ? undefined : timeText(seconds)
  if (isThinking) return time === undefined ? 'Thinking…' : `Thinking for ${time}`
  if (time !== undefined) return `Thought for ${time}`
  return count > 0 ? `Reasoning, ${formatTokens(count)} tokens` : 'Reasoning'
}

function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/** Measured while the response streams. Unknown for earlier responses. */
function useThinkingTime({ created_at: createdAt }: Message, isThinking: boolean): number | undefined {
  const [seconds, setSeconds] = useState<number>()
  const startMs = useRef(Date.parse(createdAt))
  useEffect(() => {
    if (!isThinking) return
    const count = () => setSeconds(Math.max(0, (Date.now() - startMs.current) / 1000))
    count()
    const timer = setInterval(count, 1000)
    return () => clearInterval(timer)
  }, [isThinking])
  return seconds
}
