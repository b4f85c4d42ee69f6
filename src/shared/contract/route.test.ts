import { expect, test } from 'vitest'
import { createChatCompletion } from './inference.ts'
import { buildRequest } from './route.ts'
import { createSandbox, getExecTimeoutMs } from './sandboxes.ts'
import { readTerminal } from './terminals.ts'

test('maps each input to the path, query or body of the route', () => {
  const id = 'a'.repeat(32) as never // the type is branded
  const sessionId = `pty_${'b'.repeat(24)}` as never
  expect(buildRequest(readTerminal, { id, sessionId, full: true })).toEqual({
    path: `/v1/sandboxes/${'a'.repeat(32)}/pty/pty_${'b'.repeat(24)}/read?full=true`,
    body: undefined,
  })
  expect(buildRequest(createSandbox, { name: 'one' })).toEqual({ path: '/v1/sandboxes', body: '{"name":"one"}' })
})

test('passes unknown fields through in loose bodies only', () => {
  const chat = { model: 'm', messages: [], stream_options: { include_usage: true }, stop: undefined }
  expect(buildRequest(createChatCompletion, chat).body).toBe(
    '{"model":"m","messages":[],"stream_options":{"include_usage":true}}',
  )
  const more = { name: 'one', unknown: 1 }
  expect(buildRequest(createSandbox, more).body).toBe('{"name":"one"}')
})

test('treats an exec timeout of 1000 or more as milliseconds and less as seconds', () => {
  expect([undefined, 1, 0.5, 999, 1000, 2500].map(getExecTimeoutMs)).toEqual([30_000, 1000, 500, 999_000, 1000, 2500])
})
