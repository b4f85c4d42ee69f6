import { RefreshCw, Square } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { Message } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { CallCard } from '../calls/CallCard.tsx'
import { isUnderWay, useStreamedMessage } from '../data/MessageStreamsProvider.tsx'
import { MarkdownText } from '../markdown/MarkdownText.tsx'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { MessageCost } from '../money/MessageCost.tsx'
import { useConversationWork } from './conversationContext.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageError } from './MessageError.tsx'
import { MessageNotices } from './MessageNotices.tsx'
import { Reasoning } from './Reasoning.tsx'

type RunStep = { key: number; said: string; stepCalls: readonly ChatCall[] }

/** Assistant message, during and after streaming. */
export function AssistantMessageView({ message: stored, isLast }: { message: Message; isLast: boolean }) {
  const { conversationId, actions, attempt } = useConversationWork()
  const message = useStreamedMessage(stored)
  const [choosing, setChoosing] = useState(false)
  const isRunning = isUnderWay(message)
  const regenerate = (model?: string) => attempt(() => actions.regenerate(message, model))
  return (
    <article
      aria-label={`Response from ${message.model ?? 'a model'}`}
      aria-busy={isRunning}
      className="group/message flex min-w-0 flex-col gap-1.5"
    >
      <p className="text-small font-medium text-muted">{message.model ?? 'Unknown model'}</p>
      {message.reasoning !== '' && <Reasoning message={message} />}
      {message.state === 'waiting' && message.text === '' && message.reasoning === '' && (
        <p className="flex items-center gap-2 text-muted">
          <span aria-hidden className="animate-breathe size-2 rounded-full bg-accent" />
          Waiting for a response…
        </p>
      )}
      <AssistantMessageBody message={message} isRunning={isRunning} />
      <MessageNotices message={message} />
      {message.error && (
        <MessageError error={message.error} onRetry={() => regenerate()} onOtherModel={() => setChoosing(true)} />
      )}
      {isRunning ? (
        <div className="flex min-h-6 items-center gap-1">
          <IconButton
            size="small"
            label="Stop"
            icon={Square}
            onClick={() => attempt(() => actions.stop(message.id, conversationId))}
          />
          <MessageCost message={message} />
        </div>
      ) : (
        <MessageActions message={message} stays={isLast} note={<MessageCost message={message} />}>
          <ModelPicker
            single
            chosen={message.model === null ? [] : [message.model]}
            onChange={([model]) => regenerate(model)}
            open={choosing}
            onOpenChange={setChoosing}
          >
            <IconButton size="small" label="Regenerate with…" icon={RefreshCw} />
          </ModelPicker>
        </MessageActions>
      )}
    </article>
  )
}

/** Text of a response with tool calls at the positions where they were made. */
function AssistantMessageBody({ message: { text, calls }, isRunning }: { message: Message; isRunning: boolean }) {
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

function splitSteps(text: string, calls: readonly ChatCall[]): RunStep[] {
  const steps: RunStep[] = []
  let from = 0
  for (const [step, stepCalls] of Map.groupBy(calls, (call) => call.step)) {
    const at = Math.max(from, stepCalls[0]?.at ?? from)
    steps.push({ key: step, said: text.slice(from, at).trim(), stepCalls })
    from = at
  }
  const rest = text.slice(from).trim()
  return rest === '' ? steps : [...steps, { key: 0, said: rest, stepCalls: [] }]
}
