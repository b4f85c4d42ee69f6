import { Check } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import type { Message } from '#shared/contract/chatMessages.ts'
import type { MessageId } from '#shared/contract/chats.ts'
import { AssistantMessageView } from './AssistantMessageView.tsx'
import { useConversationWork } from './conversationContext.ts'

type ResponseColumnsProps = { responses: readonly Message[]; selectedId: MessageId; isLast: boolean }

/** Responses of several models to one message, side by side. The conversation continues with one of them. */
export function ResponseColumns({ responses, selectedId, isLast }: ResponseColumnsProps) {
  const { conversationId, actions, attempt } = useConversationWork()
  return (
    <section
      aria-label="Responses side by side"
      // Scrolls by itself where the columns have no room, so the keyboard must reach it.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      className="grid auto-cols-[minmax(17rem,1fr)] grid-flow-col gap-3 overflow-x-auto pb-1"
    >
      {responses.map((response) => (
        <div key={response.id} className="flex min-w-0 flex-col rounded-card border border-line p-3">
          <div className="min-h-0 flex-1">
            <AssistantMessageView message={response} isLast={isLast} />
          </div>
          <div className="mt-2 flex h-7 items-center">
            {response.id === selectedId ? (
              <p className="flex items-center gap-1.5 text-small text-muted">
                <Check aria-hidden className="size-3.5 text-accent" />
                Continues with this response
              </p>
            ) : (
              <Button
                size="small"
                onClick={() => attempt(() => actions.change(conversationId, { leaf_id: response.id }))}
              >
                Continue with this
              </Button>
            )}
          </div>
        </div>
      ))}
    </section>
  )
}
