import type { Message } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { CallCard } from '../calls/CallCard.tsx'
import { MarkdownText } from '../markdown/MarkdownText.tsx'

/** The text of an answer, with each call of a tool where it was made. */
export function AnswerBody({ answer: { text, calls }, isMade }: { answer: Message; isMade: boolean }) {
  if (calls.length === 0) return text === '' ? null : <MarkdownText text={text} streaming={isMade} />
  const steps = stepsOf(text, calls)
  return (
    <div className="flex flex-col gap-2">
      {steps.map(({ key, said, made }, place) => (
        <div key={key} className="flex flex-col gap-2">
          {said !== '' && <MarkdownText text={said} streaming={isMade && place === steps.length - 1} />}
          {made.map((call) => (
            <CallCard key={call.id} call={call} />
          ))}
        </div>
      ))}
    </div>
  )
}

type Step = { key: number; said: string; made: readonly ChatCall[] }

function stepsOf(text: string, calls: readonly ChatCall[]): Step[] {
  const steps: Step[] = []
  let from = 0
  for (const [step, made] of Map.groupBy(calls, (call) => call.step)) {
    const at = Math.max(from, made[0]?.at ?? from)
    steps.push({ key: step, said: text.slice(from, at).trim(), made })
    from = at
  }
  const rest = text.slice(from).trim()
  return rest === '' ? steps : [...steps, { key: 0, said: rest, made: [] }]
}
