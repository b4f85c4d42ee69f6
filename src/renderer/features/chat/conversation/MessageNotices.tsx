import { Info } from 'lucide-react'
import type { Message } from '#shared/contract/chatMessages.ts'
import { formatTokens } from '../money/amounts.ts'

export function MessageNotices({ message }: { message: Message }) {
  const notices = listMessageNotices(message)
  if (notices.length === 0) return null
  return (
    <ul className="flex flex-col gap-0.5 text-small text-muted">
      {notices.map((notice) => (
        <li key={notice} className="flex items-start gap-1.5">
          <Info aria-hidden className="mt-0.5 size-3 shrink-0 text-faint" />
          <span className="min-w-0 break-words">{notice}</span>
        </li>
      ))}
    </ul>
  )
}

function listMessageNotices({ state, finish_reason: reason, ...message }: Message): string[] {
  const notices: string[] = []
  if (state === 'stopped') notices.push('You stopped this response.')
  if (state === 'interrupted') notices.push('Steward was closed before this response was complete.')
  if (reason === 'step_limit') notices.push('Step limit per response reached. Write “continue” to resume.')
  if (reason === 'turn_limit') notices.push('Cost limit per response reached. Write “continue” to resume.')
  if (state === 'complete' && reason === 'length') {
    const clamped = message.clamped_max_tokens
    notices.push(
      clamped === null
        ? 'The response reached the token limit.'
        : `Response truncated at ${formatTokens(clamped)} tokens by your limits.`,
    )
  }
  if (state === 'complete' && reason === 'content_filter')
    notices.push('The provider’s content filter ended this response.')
  if (message.omitted_messages > 0) {
    const count = message.omitted_messages
    notices.push(
      `The ${count === 1 ? 'oldest message was' : `${formatTokens(count)} oldest messages were`} not sent: the model’s context is full.`,
    )
  }
  return [...notices, ...message.warnings]
}
