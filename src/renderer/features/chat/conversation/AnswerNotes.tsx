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
  if (state === 'stopped') notes.push('You stopped this response.')
  if (state === 'interrupted') notes.push('Steward was closed before this response was complete.')
  if (reason === 'step_limit') notes.push('Step limit per response reached. Write “continue” to resume.')
  if (reason === 'turn_limit') notes.push('Cost limit per response reached. Write “continue” to resume.')
  if (state === 'complete' && reason === 'length') {
    const clamped = answer.clamped_max_tokens
    notes.push(
      clamped === null
        ? 'The response reached the token limit.'
        : `Response truncated at ${formatTokens(clamped)} tokens by your limits.`,
    )
  }
  if (state === 'complete' && reason === 'content_filter')
    notes.push('The provider’s content filter ended this response.')
  if (answer.omitted_messages > 0) {
    const count = answer.omitted_messages
    notes.push(
      `The ${count === 1 ? 'oldest message was' : `${formatTokens(count)} oldest messages were`} not sent: the model’s context is full.`,
    )
  }
  return [...notes, ...answer.warnings]
}
