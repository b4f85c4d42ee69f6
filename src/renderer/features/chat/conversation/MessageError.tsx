import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useConnection } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { goTo } from '#renderer/ui/route.ts'
import type { ChatFailure } from '#shared/contract/chatMessages.ts'
import { useConversationWork } from './conversationContext.ts'

type MessageErrorProps = { error: ChatFailure; onRetry: () => void; onOtherModel: () => void }

/** Reason for a missing response, with one remedy. */
export function MessageError({ error: { message, hint, fix }, onRetry, onOtherModel }: MessageErrorProps) {
  const { openLimits } = useConversationWork()
  const isHosted = useConnection()?.kind === 'hosted'
  const button = (label: string, onClick: () => void): ReactNode => (
    <Button size="small" onClick={onClick}>
      {label}
    </Button>
  )
  const fixes: Record<NonNullable<ChatFailure['fix']>, () => ReactNode> = {
    provider_key: () => button('Add a key', () => goTo('settings', 'models')),
    replace_key: () =>
      isHosted
        ? button('Choose another model', onOtherModel)
        : button('Replace key…', () => goTo('settings', 'models')),
    credits: () => button('Open Credits', () => goTo('credits')),
    limit: () => button('Change limits', openLimits),
    retry: () => button('Try again', onRetry),
    model: () => button('Choose another model', onOtherModel),
    shorten: () => button('Choose another model', onOtherModel),
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of content, not of form fields
    <div
      role="group"
      aria-label="Error"
      className="flex flex-wrap items-start gap-2.5 rounded-card border border-line bg-negative-soft p-3"
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-negative" />
      <div className="min-w-48 flex-1">
        <p className="font-medium break-words">{message}</p>
        {hint !== null && <p className="break-words text-muted">{hint}</p>}
      </div>
      {fix !== null && fixes[fix]()}
      {fix !== null && fix !== 'retry' && button('Try again', onRetry)}
    </div>
  )
}
