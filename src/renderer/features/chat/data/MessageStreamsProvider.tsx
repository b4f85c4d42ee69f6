import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, startTransition, use, useEffect, useState, useSyncExternalStore } from 'react'
import { readAgain } from '#renderer/api/readAgain.ts'
import { fetchAsWindow } from '#renderer/api/windowKey.ts'
import type { Message } from '#shared/contract/chatMessages.ts'
import type { ConversationId } from '#shared/contract/chats.ts'
import { type Branch, withMessage } from './branch.ts'
import { chatKeys } from './keys.ts'
import { createMessageStreams, type MessageStreams } from './messageStreams.ts'

const StreamsContext = createContext<MessageStreams | undefined>(undefined)

/** Minimum interval between renders of streamed text. Longer while the window is hidden. */
const renderIntervalMs = { shown: 24, hidden: 500 } as const

function runBeforePaint(work: () => void): void {
  if (document.hidden) setTimeout(work, renderIntervalMs.hidden)
  else setTimeout(() => requestAnimationFrame(work), renderIntervalMs.shown)
}

export function MessageStreamsProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient()
  const [ended, setEnded] = useState('')
  const [streams] = useState(() =>
    createMessageStreams({
      fetchLike: fetchAsWindow,
      beforeDrawing: runBeforePaint,
      onEnd(message) {
        const id = message.conversation_id
        queryClient.setQueryData<Branch>(chatKeys.branch(id), (branch) => branch && withMessage(branch, message))
        void readAgain(queryClient, chatKeys.conversation(id))
        setEnded(describeEnd(message))
      },
    }),
  )
  useEffect(() => streams.close, [streams])
  return (
    <StreamsContext value={streams}>
      {children}
      <p role="status" className="sr-only">
        {ended}
      </p>
    </StreamsContext>
  )
}

/** Returns the current state of an assistant message, which grows while it streams. */
export function useStreamedMessage(message: Message): Message {
  const streams = use(StreamsContext)
  const isRunning = isUnderWay(message)
  const { id } = message
  const [present, setPresent] = useState(() => streams?.present(id))
  useEffect(() => {
    if (!isRunning || !streams) return
    const unfollow = streams.follow(id)
    // Rendered as a transition, so that user input takes priority.
    const look = () => startTransition(() => setPresent(streams.present(id)))
    look()
    const unsubscribe = streams.subscribe(look)
    return () => {
      unsubscribe()
      unfollow()
    }
  }, [streams, id, isRunning])
  return isRunning && present?.id === id ? present : message
}

/** Returns the cost of responses in progress, in micro-dollars. The conversation's cost does not include it yet. */
export function useLiveCost(conversationId: ConversationId): number {
  const streams = use(StreamsContext)
  return useSyncExternalStore(streams?.subscribe ?? subscribeNever, () => streams?.liveCost(conversationId) ?? 0)
}

const subscribeNever = () => () => {}

/** Announced once at the end. A response is not read aloud while it streams. */
function describeEnd({ model, state }: Message): string {
  const name = model ?? 'the model'
  if (state === 'failed') return `The response from ${name} failed.`
  return state === 'stopped' ? `The response from ${name} was stopped.` : `The response from ${name} is complete.`
}

export function isUnderWay({ state }: Message): boolean {
  return state === 'waiting' || state === 'streaming'
}
