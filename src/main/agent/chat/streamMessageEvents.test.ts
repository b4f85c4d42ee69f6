import { expect, test } from 'vitest'
import type { Message, MessageEvent } from '#shared/contract/chatMessages.ts'
import { createActiveRuns } from './activeRuns.ts'
import { streamMessageEvents } from './streamMessageEvents.ts'

const noUsage = {
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost_micro_usd: 0,
  saved_micro_usd: 0,
  estimated: true,
}

function world() {
  const running = createActiveRuns()
  const writer = running.begin({ id: 'm', number: 1, conversationId: 'c', estimateUsage: () => noUsage })
  const { run: answer } = writer
  let finished = false
  // Contains only the fields that the events read.
  const read = () =>
    ({
      text: answer.text,
      reasoning: answer.reasoning,
      calls: [...answer.calls],
      finished_at: finished ? 'then' : null,
    }) as Message
  const reader = new AbortController()
  const events = () => streamMessageEvents({ run: answer, read, signal: reader.signal })
  return {
    writer,
    reader,
    events,
    finish() {
      finished = true
      writer.finish()
    },
  }
}
const joinText = (events: readonly MessageEvent[]) =>
  events
    .map((event) => (event.type === 'delta' ? event.text : event.type === 'snapshot' ? event.message.text : ''))
    .join('')

test('a slow reader receives all text in few chunks without delaying the run', async () => {
  const { writer, events, finish } = world()
  writer.add({ text: 'a', reasoning: '' })
  const stream = events()
  const received: MessageEvent[] = []
  for (let index = 0; index < 3; index += 1) {
    const next = await stream.next()
    if (!next.done) received.push(next.value.data)
    for (let piece = 0; piece < 1_000; piece += 1) writer.add({ text: 'b', reasoning: 'r' })
  }
  finish()
  for await (const { data } of stream) received.push(data)
  expect(received[0]?.type).toBe('snapshot')
  expect(received.at(-1)?.type).toBe('end')
  expect(received.length).toBeLessThanOrEqual(6)
  expect(joinText(received)).toBe(`a${'b'.repeat(3_000)}`)
})

test('buffers a long message for a reader as one bounded chunk', async () => {
  const { writer, events, finish } = world()
  const stream = events()
  const received: MessageEvent[] = []
  for await (const { data } of stream) {
    received.push(data)
    if (data.type === 'snapshot') {
      writer.add({ text: '🙂'.repeat(100_001), reasoning: 'r'.repeat(70_000) })
      finish()
    }
  }
  const lengths = received.map((event) =>
    event.type === 'delta' ? Math.max(event.text.length, event.reasoning.length) : 0,
  )
  expect(Math.max(...lengths)).toBe(65_536)
  expect(joinText(received)).toBe('🙂'.repeat(100_001))
})

test('a late reader starts with a snapshot and misses nothing', async () => {
  const { writer, events, finish } = world()
  writer.add({ text: 'Hello ', reasoning: 'Hm' })
  const stream = events()
  const first = await stream.next()
  expect(first.value?.data).toMatchObject({ type: 'snapshot', message: { text: 'Hello ', reasoning: 'Hm' } })
  const rest: MessageEvent[] = []
  const reading = (async () => {
    for await (const { data } of stream) rest.push(data)
  })()
  writer.add({ text: 'world', reasoning: '' })
  finish()
  await reading
  expect(joinText(rest)).toBe('world')
})

test('a disconnected reader stops while the run continues', async () => {
  const { writer, events, reader, finish } = world()
  const stream = events()
  await stream.next()
  const waiting = stream.next()
  reader.abort()
  expect((await waiting).done).toBe(true)
  writer.add({ text: 'more', reasoning: '' })
  finish()
  expect(writer.run.text).toBe('more')
})

test('sends only changed tool calls in their current state', async () => {
  const { writer, events, finish } = world()
  const call = (id: string, state: 'running' | 'done') =>
    // the only fields of a call that are read
    ({ id, state, tool: 'sandbox_list', at: 0, step: 1 }) as unknown as Message['calls'][number]
  writer.setCall(call('a', 'done'))
  const stream = events()
  await stream.next()
  writer.setCall(call('b', 'running'))
  const { value } = await stream.next()
  expect(value?.data).toMatchObject({ type: 'calls', calls: [{ id: 'b', state: 'running' }] })
  writer.setCall(call('b', 'done'))
  finish()
  const rest: MessageEvent[] = []
  for await (const { data } of stream) rest.push(data)
  expect(rest).toMatchObject([{ type: 'calls', calls: [{ id: 'b', state: 'done' }] }, { type: 'end' }])
})
