import type { Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { createEmitter } from '#shared/emitter.ts'
import { estimateTokens } from './estimateTokens.ts'

/** Assistant message in progress, with its current content. */
export type ActiveRun = {
  readonly id: string
  readonly number: number
  readonly conversationId: string
  readonly state: 'waiting' | 'streaming'
  readonly text: string
  readonly reasoning: string
  /** Calls in order. A changed call is a new object. */
  readonly calls: readonly ChatCall[]
  /** Whether the message is stored. */
  readonly isStored: boolean
  /** Estimated usage, recomputed on each read. */
  readonly usage: MessageUsage
  stop(): void
  /** Notifies the listener of each chunk, and once at the end. @returns the unsubscribe function */
  onChange(listener: () => void): () => void
}

/** Write access to an assistant message in progress. */
export type RunWriter = {
  run: ActiveRun
  /** Aborted when the user stops the run, or Steward exits. */
  signal: AbortSignal
  /** Whether the user stopped the run. */
  isStopped(): boolean
  add(delta: { text: string; reasoning: string }): void
  /** Adds or updates a call. */
  setCall(call: ChatCall): void
  /** Marks the message as stored. Listeners then read it from storage. */
  finish(): void
}

export type ActiveRuns = {
  begin(options: RunInput): RunWriter
  get(id: string): ActiveRun | undefined
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

export function createActiveRuns(): ActiveRuns {
  const running = new Map<string, { run: ActiveRun; controller: AbortController; stored: Promise<void> }>()

  return {
    begin(options) {
      const controller = new AbortController()
      const changes = createEmitter()
      let stopped = false
      let state: Message['state'] & ActiveRun['state'] = 'waiting'
      let [text, reasoning] = ['', '']
      let calls: readonly ChatCall[] = []
      const tokens = { text: 0, reasoning: 0 }
      const { promise: stored, resolve } = Promise.withResolvers<void>()
      const run: ActiveRun = {
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
        get isStored() {
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
      running.set(options.id, { run, controller, stored })
      return {
        run,
        signal: controller.signal,
        isStopped: () => stopped,
        add(delta) {
          state = 'streaming'
          text += delta.text
          reasoning += delta.reasoning
          tokens.text += estimateTokens(delta.text)
          tokens.reasoning += estimateTokens(delta.reasoning)
          changes.emit()
        },
        setCall(call) {
          const index = calls.findIndex(({ id }) => id === call.id)
          calls = index < 0 ? [...calls, call] : calls.with(index, call)
          state = 'streaming'
          changes.emit()
        },
        finish() {
          running.delete(options.id)
          changes.emit()
          changes.clear()
          resolve()
        },
      }
    },
    get: (id) => running.get(id)?.run,
    count(conversationId) {
      if (conversationId === undefined) return running.size
      return [...running.values()].filter(({ run }) => run.conversationId === conversationId).length
    },
    stopAll(conversationId) {
      for (const { run } of running.values()) {
        if (conversationId === undefined || run.conversationId === conversationId) run.stop()
      }
    },
    async close() {
      const all = [...running.values()]
      for (const { controller } of all) controller.abort()
      await Promise.all(all.map(({ stored }) => stored))
    },
  }
}
