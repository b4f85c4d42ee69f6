import { createParser } from 'eventsource-parser'
import type { FetchLike } from '#renderer/api/agentClient.ts'
import { type Message, MessageEvent, streamMessage } from '#shared/contract/chatMessages.ts'
import type { ConversationId, MessageId } from '#shared/contract/chats.ts'
import { readEvent } from '#shared/contract/parseResponse.ts'
import { buildRequest } from '#shared/contract/route.ts'
import { createEmitter } from '#shared/emitter.ts'

export type MessageStreams = {
  /** Follows a message until its end, or until the returned function is called. */
  follow(id: MessageId): () => void
  /** @returns the message so far, or undefined before its first text */
  present(id: MessageId): Message | undefined
  /** Returns the cost of a conversation's responses in progress, in micro-dollars. */
  liveCost(conversationId: ConversationId): number
  subscribe(listener: () => void): () => void
  close(): void
}

type Options = {
  fetchLike: FetchLike
  /** Schedules `work` before the next paint. */
  beforeDrawing: (work: () => void) => void
  onEnd: (message: Message) => void
  /** Delays before reconnection attempts. The last one repeats. */
  pausesMs?: readonly number[]
}

type Followed = { followers: number; abort: AbortController; message: Message | undefined }

export function createMessageStreams({
  fetchLike,
  beforeDrawing,
  onEnd,
  pausesMs = [200, 500, 1000, 2000],
}: Options): MessageStreams {
  const followed = new Map<MessageId, Followed>()
  const changes = createEmitter()
  let isDue = false
  /** Coalesces all deltas of a frame into one notification. */
  const tell = () => {
    if (isDue) return
    isDue = true
    beforeDrawing(() => {
      isDue = false
      changes.emit()
    })
  }

  const take = (stream: Followed, event: MessageEvent): boolean => {
    if (event.type === 'delta') {
      const { message } = stream
      if (message) {
        stream.message = {
          ...message,
          state: 'streaming',
          text: message.text + event.text,
          reasoning: message.reasoning + event.reasoning,
          usage: event.usage,
        }
      }
    } else if (event.type === 'calls') {
      const { message } = stream
      if (message) stream.message = withCalls(message, event)
    } else stream.message = event.message
    tell()
    if (event.type !== 'end') return false
    onEnd(event.message)
    return true
  }

  const read = async (id: MessageId, stream: Followed): Promise<boolean> => {
    const { signal } = stream.abort
    const { path } = buildRequest(streamMessage, { messageId: id })
    const response = await fetchLike(path, { method: 'GET', headers: { accept: 'text/event-stream' }, signal })
    if (response.status === 404) return true // the message was deleted
    if (!response.ok || !response.body) return false
    let ended = false
    const parser = createParser({
      onEvent({ data }) {
        const event = parseEvent(data)
        if (event && !ended) ended = take(stream, event)
      },
    })
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || ended) return ended
      parser.feed(value)
    }
  }

  const keepReading = async (id: MessageId, stream: Followed): Promise<void> => {
    for (let failures = 0; !stream.abort.signal.aborted; failures++) {
      const ended = await read(id, stream).catch(() => false)
      if (ended || stream.abort.signal.aborted) return
      await waitFor(pausesMs[Math.min(failures, pausesMs.length - 1)] ?? 1000, stream.abort.signal)
    }
  }

  return {
    follow(id) {
      const stream = followed.get(id) ?? { followers: 0, abort: new AbortController(), message: undefined }
      if (stream.followers === 0) {
        followed.set(id, stream)
        void keepReading(id, stream)
      }
      stream.followers += 1
      return () => {
        stream.followers -= 1
        if (stream.followers > 0) return
        stream.abort.abort()
        if (followed.get(id) === stream) followed.delete(id)
      }
    },
    present: (id) => followed.get(id)?.message,
    liveCost: (conversationId) =>
      [...followed.values()]
        .flatMap(({ message }) => message ?? [])
        .filter(
          ({ conversation_id: of, state }) => of === conversationId && (state === 'waiting' || state === 'streaming'),
        )
        .reduce((sum, { usage }) => sum + (usage?.cost_micro_usd ?? 0), 0),
    subscribe: changes.subscribe,
    close() {
      for (const { abort } of followed.values()) abort.abort()
      followed.clear()
    },
  }
}

function withCalls(message: Message, { calls, usage }: Extract<MessageEvent, { type: 'calls' }>): Message {
  const changed = new Map(calls.map((call) => [call.id, call]))
  const updated = message.calls.map((call) => changed.get(call.id) ?? call)
  const added = calls.filter(({ id }) => !message.calls.some((call) => call.id === id))
  return { ...message, state: 'streaming', calls: [...updated, ...added], usage }
}

/** @returns undefined for unknown or unreadable events */
function parseEvent(text: string): MessageEvent | undefined {
  try {
    return readEvent(MessageEvent, JSON.parse(text))
  } catch {
    return undefined
  }
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
