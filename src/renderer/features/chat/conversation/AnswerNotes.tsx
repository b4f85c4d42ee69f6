import { Info } from 'lucide-react'
import type { Message } from '#shared/contract/chatMessages.ts'
import { formatTokens } from '../money/amounts.ts'

export function AnswerNotes({ answer }: { answer: Message }) {
  const notes = answerNotes(answer)
  if (notes.length === 0) return null
  return (
    <ul className="flex flex-col gap-0.5 text-small text-muted">
      {notes.map((note) => (
        <li key={note} className="flex items-start gap-1.5">
          <Info aria-hidden className="mt-0.5 size-3 shrink-0 text-faint" />
          <span className="min-w-0 break-words">{note}</span>
        </li>
      ))}
    </ul>
  )
}

export function answerNotes({ state, finish_reason: reason, ...answer }: Message): string[] {
  const notes: string[] = []
  if (state === 'stopped') notes.push('You stopped this answer.')
  if (state === 'interrupted') notes.push('Steward was closed before this answer was complete.')
  if (reason === 'step_limit') notes.push('The limit of steps for one answer was reached. Write “continue” to go on.')
  if (reason === 'turn_limit') notes.push('The cost limit for one answer was reached. Write “continue” to go on.')
  if (state === 'complete' && reason === 'length') {
    const clamped = answer.clamped_max_tokens
    notes.push(
      clamped === null
        ? 'The answer reached the limit of tokens.'
        : `The answer was cut at ${formatTokens(clamped)} tokens: your limits left no more.`,
    )
  }
  if (state === 'complete' && reason === 'content_filter')
    notes.push('The provider’s content filter ended this answer.')
  if (answer.omitted_messages > 0) {
    const count = answer.omitted_messages
    notes.push(
      `The ${count === 1 ? 'oldest message was' : `${formatTokens(count)} oldest messages were`} not sent: the model’s context is full.`,
    )
  }
  return [...notes, ...answer.warnings]
}
