import type { AnswerUsage, Message } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { emitter } from '#shared/emitter.ts'
import { tokenWeight } from './tokenWeight.ts'

/** An answer that is being made: all that came of it so far. */
export type RunningAnswer = {
  readonly id: string
  readonly number: number
  readonly conversationId: string
  readonly state: 'waiting' | 'streaming'
  readonly text: string
  readonly reasoning: string
  /** In their order; one that changes is another object. */
  readonly calls: readonly ChatCall[]
  /** It is stored by now. */
  readonly isOver: boolean
  /** Estimated. */
  readonly usage: AnswerUsage
  stop(): void
  /** Calls back with each piece, and once when it is over. @returns what ends that */
  onChange(listener: () => void): () => void
}

/** For whoever makes it. */
export type GrowingAnswer = {
  answer: RunningAnswer
  /** Fires when the person stops it, or Steward ends. */
  signal: AbortSignal
  /** The person stopped it. */
  isStopped(): boolean
  add(piece: { text: string; reasoning: string }): void
  /** It began, or changed. */
  setCall(call: ChatCall): void
  /** It is stored: whoever listens reads it there. */
  over(): void
}

export type RunningAnswers = {
  begin(given: Given): GrowingAnswer
  get(id: string): RunningAnswer | undefined
  /** All, or those of a conversation. */
  count(conversationId?: string): number
  /** Stops the answers of one conversation, or of all. */
  stopAll(conversationId?: string): void
  /** Ends them, and waits until each is stored. */
  close(): Promise<void>
}

type Given = {
  id: string
  number: number
  conversationId: string
  /** So far: asked for whenever somebody looks. */
  usageOf(outputTokens: { text: number; reasoning: number }): AnswerUsage
}

export function runningAnswers(): RunningAnswers {
  const running = new Map<string, { answer: RunningAnswer; leave: AbortController; over: Promise<void> }>()

  return {
    begin(given) {
      const leave = new AbortController()
      const changes = emitter()
      let stopped = false
      let state: Message['state'] & RunningAnswer['state'] = 'waiting'
      let [text, reasoning] = ['', '']
      let calls: readonly ChatCall[] = []
      const tokens = { text: 0, reasoning: 0 }
      const { promise: over, resolve } = Promise.withResolvers<void>()
      const answer: RunningAnswer = {
        ...given,
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
          return !running.has(given.id)
        },
        get usage() {
          return given.usageOf(tokens)
        },
        stop() {
          stopped = true
          leave.abort()
        },
        onChange: changes.subscribe,
      }
      running.set(given.id, { answer, leave, over })
      return {
        answer,
        signal: leave.signal,
        isStopped: () => stopped,
        add(piece) {
          state = 'streaming'
          text += piece.text
          reasoning += piece.reasoning
          tokens.text += tokenWeight(piece.text)
          tokens.reasoning += tokenWeight(piece.reasoning)
          changes.emit()
        },
        setCall(call) {
          const at = calls.findIndex(({ id }) => id === call.id)
          calls = at < 0 ? [...calls, call] : calls.with(at, call)
          state = 'streaming'
          changes.emit()
        },
        over() {
          running.delete(given.id)
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
      for (const { leave } of all) leave.abort()
      await Promise.all(all.map(({ over }) => over))
    },
  }
}
