import { RefreshCw, Square } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { Message } from '#shared/contract/chatMessages.ts'
import { isUnderWay, useAnswer } from '../data/AnswerStreamsProvider.tsx'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { AnswerCost } from '../money/AnswerCost.tsx'
import { AnswerBody } from './AnswerBody.tsx'
import { AnswerNotes } from './AnswerNotes.tsx'
import { useConversationWork } from './conversationContext.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageError } from './MessageError.tsx'
import { Reasoning } from './Reasoning.tsx'

/** An answer, as it grows and when it is there. */
export function AnswerView({ message, isLast }: { message: Message; isLast: boolean }) {
  const { conversationId, actions, attempt } = useConversationWork()
  const answer = useAnswer(message)
  const [choosing, setChoosing] = useState(false)
  const isRunning = isUnderWay(answer)
  const regenerate = (model?: string) => attempt(() => actions.regenerate(answer, model))
  return (
    <article
      aria-label={`Answer of ${answer.model ?? 'a model'}`}
      aria-busy={isRunning}
      className="group/message flex min-w-0 flex-col gap-1.5"
    >
      <p className="text-small font-medium text-muted">{answer.model ?? 'Unknown model'}</p>
      {answer.reasoning !== '' && <Reasoning answer={answer} />}
      {answer.state === 'waiting' && answer.text === '' && answer.reasoning === '' && (
        <p className="flex items-center gap-2 text-muted">
          <span aria-hidden className="animate-breathe size-2 rounded-full bg-accent" />
          Waiting for the first word…
        </p>
      )}
      <AnswerBody answer={answer} isRunning={isRunning} />
      <AnswerNotes answer={answer} />
      {answer.error && (
        <MessageError error={answer.error} onRetry={() => regenerate()} onOtherModel={() => setChoosing(true)} />
      )}
      {isRunning ? (
        <div className="flex min-h-6 items-center gap-1">
          <IconButton
            size="small"
            label="Stop"
            icon={Square}
            onClick={() => attempt(() => actions.stop(answer.id, conversationId))}
          />
          <AnswerCost answer={answer} />
        </div>
      ) : (
        <MessageActions message={answer} stays={isLast} note={<AnswerCost answer={answer} />}>
          <ModelPicker
            single
            chosen={answer.model === null ? [] : [answer.model]}
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
