import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { defineRoute } from '#shared/contract/route.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { pipelineServer, type TestCall, testEndpoint } from '#test/support/fakes/pipelineServer.ts'
import { createPrincipals, type PrincipalId } from '../access/principals.ts'
import { createBytesAnswer, createEventStreamResponse } from './answers.ts'

const work = defineRoute({
  operation: 'work',
  method: 'GET',
  path: '/work',
  summary: 'Work',
  tag: 'Test',
  response: z.object({}),
})

async function openLeasedServer(handle: (call: TestCall) => object | Promise<object>) {
  const revoked = new Set<PrincipalId>()
  const principals = createPrincipals<true, 'request'>({
    getRights: (principal) => (revoked.has(principal) ? undefined : true),
    endedError: () => new AppError('auth/invalid', 'This key was revoked.'),
  })
  const began = Promise.withResolvers<TestCall>()
  const streams = () => true
  const endpoint = testEndpoint(
    work,
    (_, call) => {
      began.resolve(call)
      return handle(call)
    },
    { streams },
  )
  const { ask } = await pipelineServer({
    endpoints: [endpoint],
    lease(principal, _, exchange) {
      const lease = principals.lease(`key:${principal}`, 'request', { onEnd: exchange.abort })
      if (lease.error) throw lease.error
      return lease
    },
  })
  const revoke = () => {
    revoked.add('key:ada')
    principals.end('key:ada')
  }
  return { ask, principals, revoke, began: began.promise }
}

const refusal = { code: 'auth/invalid', error: 'This key was revoked.' }

test('a request whose principal ends gets the reason even without signal support', async () => {
  const finish = Promise.withResolvers<object>()
  let discarded = false
  const { ask, principals, revoke, began } = await openLeasedServer(() => finish.promise)
  const request = ask('/work')
  const { signal, disconnected } = await began
  revoke()
  const answer = await request
  expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining(refusal)])
  expect([signal.reason, disconnected.reason]).toEqual([
    expect.objectContaining({ code: 'auth/invalid' }),
    signal.reason,
  ])
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: true as const, value: undefined }),
      async return() {
        discarded = true
        return { done: true as const, value: undefined }
      },
    }),
  }
  finish.resolve(createBytesAnswer({ headers: {}, body }))
  await eventually(() => expect(discarded).toBe(true))
  expect(principals.count()).toEqual({})
  expect((await ask('/work')).status).toBe(401)
})

test('a stream may write a last chunk, one without an end is cut off', async () => {
  const pieces = async function* (signal: AbortSignal) {
    yield 'one '
    await wait(3_600_000, undefined, { signal }).catch(() => {})
    yield 'last'
  }
  const { ask, principals, revoke, began } = await openLeasedServer(({ signal }) =>
    createBytesAnswer({ headers: { 'content-type': 'text/plain' }, body: pieces(signal) }),
  )
  const answer = await ask('/work')
  await began
  expect(principals.count()).toEqual({ request: 1 })
  revoke()
  expect(await answer.text()).toBe('one last')

  const deaf = async function* () {
    yield 'one '
    await new Promise(() => {})
  }
  const otherServer = await openLeasedServer(() => createBytesAnswer({ headers: {}, body: deaf() }))
  const broken = await otherServer.ask('/work')
  otherServer.revoke()
  await expect(broken.text()).rejects.toThrow('terminated')
})

test('event streams end with the reason', async () => {
  const events = async function* (signal: AbortSignal) {
    yield { data: 'one' }
    await wait(3_600_000, undefined, { signal }).catch(() => {})
  }
  const { ask, revoke, began } = await openLeasedServer(({ signal }) => createEventStreamResponse(events(signal)))
  const answer = await ask('/work')
  await began
  revoke()
  expect(await answer.text()).toContain('This key was revoked.')
})

test('a completed request holds no lease', async () => {
  const { ask, principals } = await openLeasedServer(() => createBytesAnswer({ headers: {}, body: 'done' }))
  expect(await (await ask('/work')).text()).toBe('done')
  await eventually(() => expect(principals.count()).toEqual({}))
})

test('a body that completes after its principal ended does not reach the handler', async () => {
  const order = defineRoute({
    operation: 'order',
    method: 'POST',
    path: '/order',
    summary: 'Order',
    tag: 'Test',
    body: z.object({ n: z.int() }),
    response: z.object({}),
  })
  const lease = Promise.withResolvers<{ end: () => void }>()
  let isHandled = false
  const { port, ask } = await pipelineServer({
    endpoints: [
      testEndpoint(order, () => {
        isHandled = true
        return {}
      }),
    ],
    lease(principal, _, exchange) {
      const principals = createPrincipals<true, 'request'>({
        getRights: () => true,
        endedError: () => new AppError('auth/invalid', 'This key was revoked.'),
      })
      lease.resolve({ end: () => principals.end(`key:${principal}`) })
      return principals.lease(`key:${principal}`, 'request', { onEnd: exchange.abort })
    },
  })
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  const head = ['POST /order HTTP/1.1', 'Host: a', 'X-API-Key: ada', 'Content-Type: application/json']
  socket.write(`${head.join('\r\n')}\r\nContent-Length: 7\r\n\r\n{"n":`)
  const { end } = await lease.promise
  end()
  socket.write('1}')
  await eventually(() => expect(text).toMatch(/^HTTP\/1.1 401/))
  await ask('/none') // the rest of the body was already read
  expect(isHandled).toBe(false)
})
