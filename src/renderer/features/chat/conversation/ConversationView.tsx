import { MessagesSquare, Unplug, X } from 'lucide-react'
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { getMessage, type Message } from '#shared/contract/chatMessages.ts'
import { type Conversation, MessageId } from '#shared/contract/chats.ts'
import { Composer, type ComposerHandle } from '../composer/Composer.tsx'
import type { Draft } from '../composer/drafts.ts'
import { isUnderWay } from '../data/MessageStreamsProvider.tsx'
import { useBranch } from '../data/useBranch.ts'
import { useChatActions } from '../data/useChatActions.ts'
import { useModelsFor } from '../models/useModelsFor.ts'
import { BudgetBanner } from '../money/BudgetBanner.tsx'
import { ConversationContext } from './conversationContext.ts'
import { MessageList, type MessageListHandle } from './MessageList.tsx'

type ConversationNoticeProps = { notice: string | null; onDismiss: () => void }

export type ConversationHandle = { focus(): void; stop(): void }

type ConversationViewProps = {
  conversation: Conversation
  /** Message to scroll to, from a link. */
  sought: string | undefined
  onLimits: () => void
  onSettings: () => void
  ref?: Ref<ConversationHandle>
}

export function ConversationView({ conversation, sought, onLimits, onSettings, ref }: ConversationViewProps) {
  const conversationId = conversation.id
  const actions = useChatActions()
  const branch = useBranch(conversationId)
  const target = useSought(conversation, sought, branch)
  const [editing, setEditing] = useState<MessageId>()
  const list = useRef<MessageListHandle>(null)
  const composer = useRef<ComposerHandle>(null)
  const attempt = (work: () => Promise<unknown>) => void work().catch(notify.failed)

  const models = useModelsFor(conversation.models)
  const last = branch.data?.messages.at(-1)
  const running = listRunningMessages(branch.data)
  const stop = () => {
    for (const { id } of running) attempt(() => actions.stop(id, conversationId))
  }
  useImperativeHandle(ref, () => ({ focus: () => composer.current?.focus(), stop }))
  const send = async ({ text, attachments }: Draft) => {
    await actions.send({
      conversationId,
      parent_id: branch.data?.leafId ?? null,
      text,
      attachment_ids: attachments.map(({ id }) => id),
      models,
    })
    list.current?.toEnd()
  }
  const sendEdited = async (message: Message, text: string) => {
    await actions.send({
      conversationId,
      parent_id: message.parent_id,
      text,
      attachment_ids: message.attachments.map(({ id }) => id),
    })
    setEditing(undefined)
    list.current?.toEnd()
  }
  const isStopped = conversation.budget.some(({ state }) => state === 'stopped')

  return (
    <ConversationContext
      value={{ conversationId, actions, editing, edit: setEditing, sendEdited, openLimits: onLimits, attempt }}
    >
      <div className="flex size-full min-h-0 flex-col">
        {branch.isPending ? (
          <PageColumn className="flex-1 py-5">
            <SkeletonRows label="Loading messages…" count={5} rowClassName="h-12" />
          </PageColumn>
        ) : branch.data === undefined ? (
          <PageColumn className="flex-1 py-5">
            <ErrorNotice error={branch.error} onRetry={() => void branch.refetch()} />
          </PageColumn>
        ) : last === undefined ? (
          <div className="flex min-h-0 flex-1 flex-col items-center justify-center gap-2 p-6 text-muted">
            <MessagesSquare aria-hidden className="size-6 text-faint" />
            <p>No messages yet.</p>
          </div>
        ) : (
          <MessageList
            key={conversationId}
            ref={list}
            branch={branch.data}
            sought={target}
            onEarlier={branch.readEarlier}
            onLater={branch.readLater}
            onEnd={branch.readEnd}
          />
        )}
        <Composer
          key={conversationId}
          ref={composer}
          place={conversationId}
          conversationId={conversationId}
          parentId={branch.data?.leafId ?? null}
          models={models}
          onModels={(models) => attempt(() => actions.change(conversationId, { models }))}
          onSend={send}
          onStop={running.length > 0 ? stop : undefined}
          onLimits={onLimits}
          tools={conversation.tools}
          onTools={(tools) => attempt(() => actions.change(conversationId, { tools }))}
          onToolSettings={onSettings}
          stopped={isStopped}
        >
          <ConversationNotice
            notice={conversation.notice}
            onDismiss={() => attempt(() => actions.change(conversationId, { notice: null }))}
          />
          <BudgetBanner budget={conversation.budget} onChange={onLimits} />
        </Composer>
      </div>
    </ConversationContext>
  )
}

function listRunningMessages(branch: ReturnType<typeof useBranch>['data']): Message[] {
  const last = branch?.messages.at(-1)
  if (!branch || !last) return []
  const group = last.group_id
  const beside =
    group === null ? [] : branch.beside.filter((candidate) => candidate.group_id === group && candidate.id !== last.id)
  return [last, ...beside].filter(isUnderWay)
}

/** Selects the branch and position of a linked message. */
function useSought(
  { id: conversationId, leaf_id: leafId }: Conversation,
  targetId: string | undefined,
  { data, readAround }: ReturnType<typeof useBranch>,
): MessageId | undefined {
  const agent = useAgent()
  const actions = useChatActions()
  const [requestedId, setRequestedId] = useState<string>()
  const sought = MessageId.safeParse(targetId).data
  const isLoaded = data?.messages.some(({ id }) => id === sought) || data?.beside.some(({ id }) => id === sought)
  const isRead = data !== undefined
  useEffect(() => {
    if (sought === undefined || !isRead || isLoaded || requestedId === sought) return
    setRequestedId(sought)
    void (async () => {
      try {
        const { message, leaf_id: leaf } = await agent(getMessage, { messageId: sought })
        if (leaf !== leafId) await actions.change(conversationId, { leaf_id: sought })
        await readAround(message.position)
      } catch (error) {
        notify.failed(error, { title: 'Could not find that message' })
      }
    })()
  }, [sought, isRead, isLoaded, requestedId, agent, actions, readAround, leafId, conversationId])
  return sought
}

/** Notice above the composer, until dismissed. */
function ConversationNotice({ notice, onDismiss }: ConversationNoticeProps) {
  if (notice === null) return null
  return (
    <div
      role="status"
      className="mb-2 flex items-center gap-x-2.5 rounded-card border border-line bg-caution-soft px-3 py-1.5"
    >
      <Unplug aria-hidden className="size-4 shrink-0 text-caution" />
      <p className="min-w-0 flex-1">{notice}</p>
      <IconButton label="Dismiss" icon={X} size="small" onClick={onDismiss} />
    </div>
  )
}
