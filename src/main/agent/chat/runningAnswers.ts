import type { Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { createEmitter } from '#shared/emitter.ts'
import { estimateTokens } from './estimateTokens.ts'

/** Assistant message in progress, with its current content. */
export type RunningAnswer = {
  readonly id: string
  readonly number: number
  readonly conversationId: string
  readonly state: 'waiting' | 'streaming'
  readonly text: string
  readonly reasoning: string
  /** Calls in order. A changed call is a new object. */
  readonly calls: readonly ChatCall[]
  /** Whether the message is stored. */
  readonly isOver: boolean
  /** Estimated usage, recomputed on each read. */
  readonly usage: MessageUsage
  stop(): void
  /** Notifies the listener of each chunk, and once at the end. @returns the unsubscribe function */
  onChange(listener: () => void): () => void
}

/** Write access to an assistant message in progress. */
export type RunningAnswerWriter = {
  answer: RunningAnswer
  /** Aborted when the user stops the run, or Steward exits. */
  signal: AbortSignal
  /** Whether the user stopped the run. */
  isStopped(): boolean
  add(piece: { text: string; reasoning: string }): void
  /** Adds or updates a call. */
  setCall(call: ChatCall): void
  /** Marks the message as stored. Listeners then read it from storage. */
  over(): void
}

export type RunningAnswers = {
  begin(options: RunInput): RunningAnswerWriter
  get(id: string): RunningAnswer | undefined
  /** Counts the messages in progress, of one conversation or of all. */
  count(conversationId?: string): number
  /** Stops the messages in progress, of one conversation or of all. */
  stopAll(conversationId?: string): void
  /** Ends all messages in progress, and waits until each is stored. */
  close(): Promise<void>
}

type RunInput = {
  id: string
  number: number
  conversationId: string
  /** Estimates the current usage. Computed on each read. */
  estimateUsage(outputTokens: { text: number; reasoning: number }): MessageUsage
}

export function createRunningAnswers(): RunningAnswers {
  const running = new Map<string, { answer: RunningAnswer; controller: AbortController; over: Promise<void> }>()

  return {
    begin(options) {
      const controller = new AbortController()
      const changes = createEmitter()
      let stopped = false
      let state: Message['state'] & RunningAnswer['state'] = 'waiting'
      let [text, reasoning] = ['', '']
      let calls: readonly ChatCall[] = []
      const tokens = { text: 0, reasoning: 0 }
      const { promise: over, resolve } = Promise.withResolvers<void>()
      const answer: RunningAnswer = {
        ...options,
        get state() {
          return state
        },
        get text() {
          return text
        },
        get reasoning() {
          return reasoning
        },
        get calls() {
          return calls
        },
        get isOver() {
          return !running.has(options.id)
        },
        get usage() {
          return options.estimateUsage(tokens)
        },
        stop() {
          stopped = true
          controller.abort()
        },
        onChange: changes.subscribe,
      }
      running.set(options.id, { answer, controller, over })
      return {
        answer,
        signal: controller.signal,
        isStopped: () => stopped,
        add(piece) {
          state = 'streaming'
          text += piece.text
          reasoning += piece.reasoning
          tokens.text += estimateTokens(piece.text)
          tokens.reasoning += estimateTokens(piece.reasoning)
          changes.emit()
        },
        setCall(call) {
          const index = calls.findIndex(({ id }) => id === call.id)
          calls = index < 0 ? [...calls, call] : calls.with(index, call)
          state = 'streaming'
          changes.emit()
        },
        over() {
          running.delete(options.id)
          changes.emit()
          changes.clear()
          resolve()
        },
      }
    },
    get: (id) => running.get(id)?.answer,
    count(conversationId) {
      if (conversationId === undefined) return running.size
      return [...running.values()].filter(({ answer }) => answer.conversationId === conversationId).length
    },
    stopAll(conversationId) {
      for (const { answer } of running.values()) {
        if (conversationId === undefined || answer.conversationId === conversationId) answer.stop()
      }
    },
    async close() {
      const all = [...running.values()]
      for (const { controller } of all) controller.abort()
      await Promise.all(all.map(({ over }) => over))
    },
  }
}
