import type { Message } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { CallCard } from '../calls/CallCard.tsx'
import { MarkdownText } from '../markdown/MarkdownText.tsx'

/** The text of an answer, with each call of a tool where it was made. */
export function AnswerBody({ answer: { text, calls }, isRunning }: { answer: Message; isRunning: boolean }) {
  if (calls.length === 0) return text === '' ? null : <MarkdownText text={text} streaming={isRunning} />
  const steps = splitSteps(text, calls)
  return (
    <div className="flex flex-col gap-2">
      {steps.map(({ key, said, stepCalls }, place) => (
        <div key={key} className="flex flex-col gap-2">
          {said !== '' && <MarkdownText text={said} streaming={isRunning && place === steps.length - 1} />}
          {stepCalls.map((call) => (
            <CallCard key={call.id} call={call} />
          ))}
        </div>
      ))}
    </div>
  )
}

type Step = { key: number; said: string; stepCalls: readonly ChatCall[] }

function splitSteps(text: string, calls: readonly ChatCall[]): Step[] {
  const steps: Step[] = []
  let from = 0
  for (const [step, stepCalls] of Map.groupBy(calls, (call) => call.step)) {
    const at = Math.max(from, stepCalls[0]?.at ?? from)
    steps.push({ key: step, said: text.slice(from, at).trim(), stepCalls })
    from = at
  }
  const rest = text.slice(from).trim()
  return rest === '' ? steps : [...steps, { key: 0, said: rest, stepCalls: [] }]
}
