import { expect, test } from 'vitest'
import type { Message } from '#shared/contract/chatMessages.ts'
import type { MessageId } from '#shared/contract/chats.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createMessageStreams } from './messageStreams.ts'

const id = `msg_${'a'.repeat(24)}` as MessageId
const usage = {
  input_tokens: 1,
  cached_tokens: 0,
  output_tokens: 1,
  reasoning_tokens: 0,
  cost_micro_usd: 5,
  saved_micro_usd: 0,
  estimated: true,
}
const message = (text: string, state: Message['state']): Message => ({
  id,
  conversation_id: `conv_${'b'.repeat(24)}` as Message['conversation_id'],
  parent_id: null,
  position: 2,
  role: 'assistant',
  state,
  model: 'm',
  text,
  reasoning: '',
  calls: [],
  attachments: [],
  sibling_ids: [id],
  group_id: null,
  error: null,
  usage,
  finish_reason: null,
  omitted_messages: 0,
  clamped_max_tokens: null,
  warnings: [],
  created_at: '2026-11-22T00:00:00.000Z',
  finished_at: null,
})
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const delta = (text: string) => event({ type: 'delta', text, reasoning: '', usage })

function createStream(bodies: string[][]) {
  const ended: Message[] = []
  const seen: string[] = []
  const streams = createMessageStreams({
    fetchLike: async () => {
      const parts = bodies.shift() ?? []
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
    beforeDrawing: (work) => queueMicrotask(work),
    onEnd: (it) => ended.push(it),
    pausesMs: [0],
  })
  streams.subscribe(() => seen.push(streams.present(id)?.text ?? ''))
  return { streams, ended, seen }
}

test('assembles a message from arbitrary chunks of a stream and ends once', async () => {
  const whole = event({ type: 'snapshot', message: message('He', 'streaming') }) + delta('llo') + delta(' wörld')
  const bytes = [...whole].map((it) => it)
  const { streams, ended } = createStream([
    [...bytes, event({ type: 'end', message: message('Hello wörld', 'complete') })],
  ])
  const unfollow = streams.follow(id)
  await until('it ended', async () => ended.length === 1)
  expect(ended[0]?.text).toBe('Hello wörld')
  expect(streams.present(id)?.state).toBe('complete')
  unfollow()
  expect(streams.present(id)).toBeUndefined()
  streams.close()
})

test('reconnects a lost stream and restarts from the snapshot', async () => {
  const { streams, ended, seen } = createStream([
    [event({ type: 'snapshot', message: message('One', 'streaming') }), delta(' two')],
    ['data: {"broken\n\n', event({ type: 'unknown' })],
    [
      event({ type: 'snapshot', message: message('One two three', 'streaming') }),
      event({ type: 'end', message: message('One two three.', 'complete') }),
    ],
  ])
  streams.follow(id)
  await until('it ended', async () => ended.length === 1)
  await until('it was told', async () => seen.at(-1) === 'One two three.')
  expect(seen).toContain('One two')
  streams.close()
})
