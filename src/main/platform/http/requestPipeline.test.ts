import { expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { defineRoute } from '#shared/contract/route.ts'
import { pipelineServer, type TestCall, testEndpoint } from '#test/support/fakes/pipelineServer.ts'
import { createBytesAnswer, createEventStreamResponse } from './answers.ts'
import type { Payment, Price } from './endpoint.ts'

const buy = defineRoute({
  operation: 'buy',
  method: 'POST',
  path: '/buy',
  summary: 'Buy',
  tag: 'Test',
  body: z.object({ what: z.string() }),
  response: z.object({ bought: z.string(), number: z.number() }),
  status: 201,
  idempotent: true,
  maxBodyBytes: 1000,
})
const look = defineRoute({
  operation: 'look',
  method: 'GET',
  path: '/look/:id',
  summary: 'Look',
  tag: 'Test',
  params: z.object({ id: z.string() }),
  query: z.object({ q: z.string().optional() }),
  response: z.object({ id: z.string(), q: z.string().optional() }),
})

function shop(price?: Price<TestCall>, stages: string[] = []) {
  let count = 0
  const endpoint = testEndpoint(
    buy,
    ({ body }, _, settlement) => {
      stages.push(settlement === undefined ? 'handle' : `handle ${JSON.stringify(settlement)}`)
      if (body.what === 'nothing') throw new AppError('sandbox/capacity', 'Sold out.')
      if (body.what === 'broken') throw new Error('secret internals')
      count += 1
      return { bought: body.what, number: count }
    },
    price && { price },
  )
  return endpoint
}

const order = (drink: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ what: drink }),
})

test('runs every request through all stages in order from guard to handler', async () => {
  const stages: string[] = []
  const free: Price<TestCall> = async () => {
    stages.push('price')
    return undefined
  }
  const { ask } = await pipelineServer({ endpoints: [shop(free, stages)], stages })
  expect((await ask('/buy', order('tea', { 'idempotency-key': 'one' }))).status).toBe(201)
  expect(stages).toEqual(['guard', 'who', 'idempotency', 'price', 'handle'])
})

test.each([
  ['a page of somebody else', { origin: 'https://evil.example' }, 403, ['guard']],
  ['nobody known', { 'x-api-key': undefined }, 401, ['guard', 'who']],
  ['a body of another type', { 'content-type': 'text/plain' }, 415, ['guard', 'who']],
])('%s is rejected before later stages', async (_, headers, status, reached) => {
  const stages: string[] = []
  const { url } = await pipelineServer({ endpoints: [shop(undefined, stages)], stages })
  const request = { ...order('tea').headers, 'x-api-key': 'ada', ...headers } as Record<string, string>
  if (request['x-api-key'] === undefined) delete request['x-api-key']
  const answer = await fetch(`${url}/buy`, { ...order('tea'), headers: request })
  expect([answer.status, stages]).toEqual([status, reached])
})

test.each([
  ['no JSON', '{', 400, 'request/malformed'],
  ['a field that is wrong', '{"what":1}', 400, 'request/invalid'],
  ['too much', JSON.stringify({ what: 'x'.repeat(1001) }), 413, 'request/too-large'],
])('a body with %s is not stored for idempotent replay', async (_, body, status, code) => {
  const stages: string[] = []
  const { ask } = await pipelineServer({ endpoints: [shop()], stages })
  const answer = await ask('/buy', { ...order('tea', { 'idempotency-key': 'one' }), body })
  expect([answer.status, (await answer.json()).code]).toEqual([status, code])
  expect(stages).toEqual(['guard', 'who'])
})

test('a chunked body that exceeds the limit is rejected', async () => {
  const { ask } = await pipelineServer({ endpoints: [shop()] })
  const body = new ReadableStream({
    start(controller) {
      for (let index = 0; index < 20; index++) controller.enqueue(Buffer.from('x'.repeat(100)))
      controller.close()
    },
  })
  const answer = await ask('/buy', { ...order('tea'), body, duplex: 'half' } as RequestInit & {
    headers: Record<string, string>
  })
  expect(answer.status).toBe(413)
})

test('a repeated query parameter is rejected, and HEAD returns the headers of GET', async () => {
  const { ask } = await pipelineServer({
    endpoints: [testEndpoint(look, ({ params, query }) => ({ id: params.id, ...(query.q && { q: query.q }) }))],
  })
  expect(await (await ask('/look/a%20b?q=c+d%26')).json()).toEqual({ id: 'a b', q: 'c d&' })
  expect((await ask('/look/a?q=1&q=2')).status).toBe(400)
  const [get, head] = [await ask('/look/a'), await ask('/look/a', { method: 'HEAD' })]
  expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
  expect(await head.text()).toBe('')
})

test('an unexpected error is reported without internals', async () => {
  const { ask } = await pipelineServer({ endpoints: [shop()] })
  const answer = await ask('/buy', order('broken'))
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('secret internals')
})

const receipt = { 'payment-response': 'cGFpZA==' }
const offer = { x402Version: 1, accepts: [{ scheme: 'exact', maxAmountRequired: '0010000' }] }

class PaymentRequired extends AppError {
  override get status(): number {
    return 402
  }
}

/** Creates a gate that requires a payment, accepts any, and records its inputs in `heard`. */
function gate(heard: unknown[] = []): Price<TestCall> {
  return async (_, { who: principal }, { headers, body, path }) => {
    if (headers['x-payment'] === undefined && headers['payment-signature'] === undefined) {
      throw new PaymentRequired('auth/forbidden', 'Payment required', {
        headers: { 'payment-required': 'b2ZmZXI=' },
        fields: offer,
      })
    }
    heard.push(['asked', principal, path, body.toString()])
    const payment: Payment = {
      settlement: { payer: principal },
      headers: receipt,
      done: async (answer) => void heard.push(['done', answer]),
      fail: async (error) => {
        heard.push(['failed', error instanceof AppError ? error.code : 'unexpected'])
        return new AppError('sandbox/capacity', 'Sold out. The payment was credited.', { fields: { credited: true } })
      },
    }
    return payment
  }
}

test('an unpaid price is reported in headers and body and is not stored', async () => {
  const stages: string[] = []
  const { ask } = await pipelineServer({ endpoints: [shop(gate(), stages)] })
  const key = { 'idempotency-key': 'one' }
  for (let times = 0; times < 2; times++) {
    const refused = await ask('/buy', order('tea', key))
    expect([refused.status, refused.headers.get('payment-required')]).toEqual([402, 'b2ZmZXI='])
    expect(await refused.json()).toMatchObject({ error: 'Payment required', ...offer })
    expect(refused.headers.get('idempotent-replayed')).toBeNull()
  }
  expect(stages).toEqual([])
})

test.each(['x-payment', 'payment-signature'])('%s is not part of the idempotency fingerprint', async (header) => {
  const heard: unknown[] = []
  const { ask } = await pipelineServer({ endpoints: [shop(gate(heard))] })
  const key = { 'idempotency-key': 'one' }
  expect((await ask('/buy', order('tea', key))).status).toBe(402)
  const paid = await ask('/buy', order('tea', { ...key, [header]: 'first' }))
  expect([paid.status, paid.headers.get('payment-response')]).toEqual([201, 'cGFpZA=='])
  for (const again of [{ [header]: 'other' }, {}]) {
    const replayed = await ask('/buy', order('tea', { ...key, ...again }))
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(await replayed.json()).toEqual({ bought: 'tea', number: 1 })
  }
  expect(heard.filter((value) => Array.isArray(value) && value[0] === 'asked')).toHaveLength(1)
})

test('the handler receives the settlement, and the payment receives the handler outcome', async () => {
  const heard: unknown[] = []
  const stages: string[] = []
  const { ask } = await pipelineServer({ endpoints: [shop(gate(heard), stages)] })
  await ask('/buy', order('tea', { 'x-payment': 'p' }))
  expect(stages).toEqual(['handle {"payer":"ada"}'])
  expect(heard).toEqual([
    ['asked', 'ada', '/buy', '{"what":"tea"}'],
    ['done', { status: 201, body: '{"bought":"tea","number":1}' }],
  ])
  for (const [what, code] of [
    ['nothing', 'sandbox/capacity'],
    ['broken', 'unexpected'],
  ] as const) {
    const failed = await ask('/buy', order(what, { 'x-payment': 'p' }))
    expect([failed.status, failed.headers.get('payment-response')]).toEqual([503, 'cGFpZA=='])
    expect(await failed.json()).toMatchObject({ error: 'Sold out. The payment was credited.', credited: true })
    expect(heard.at(-1)).toEqual(['failed', code])
  }
})

test('a payment that already bought a response gets it again without the handler', async () => {
  const stages: string[] = []
  const before: Price<TestCall> = async () => ({ answer: { status: 201, body: '{"bought":"before"}' } })
  const { ask } = await pipelineServer({ endpoints: [shop(before, stages)] })
  expect(await (await ask('/buy', order('tea'))).json()).toEqual({ bought: 'before' })
  expect(stages).toEqual([])
})

const talk = { ...buy, operation: 'talk', path: '/talk' } as const

test('an event stream ignores the Idempotency-Key and pays at its end', async () => {
  const heard: unknown[] = []
  async function* words(what: string) {
    yield { data: what }
    if (what === 'broken') throw new Error('secret internals')
  }
  const endpoint = testEndpoint(talk, ({ body }) => createEventStreamResponse(words(body.what)), {
    streams: () => true,
    price: gate(heard),
  })
  const stages: string[] = []
  const { ask } = await pipelineServer({ endpoints: [endpoint], stages })
  const headers = { 'x-payment': 'p', 'idempotency-key': 'one' }
  for (let times = 0; times < 2; times++) {
    const answer = await ask('/talk', order('hello', headers))
    expect([answer.headers.get('idempotent-replayed'), await answer.text()]).toEqual([null, 'data: hello\n\n'])
  }
  expect(stages).not.toContain('idempotency')
  expect(heard.filter((it) => JSON.stringify(it) === '["done",null]')).toHaveLength(2)
  const failed = await (await ask('/talk', order('broken', headers))).text()
  expect(failed).toContain('event: error\ndata: {"error":"Sold out. The payment was credited."')
  expect(heard.at(-1)).toEqual(['failed', 'unexpected'])
})

test('an undeclared event stream is a server error, not a response', async () => {
  async function* none() {}
  const { ask } = await pipelineServer({ endpoints: [testEndpoint(talk, () => createEventStreamResponse(none()))] })
  expect((await ask('/talk', order('x'))).status).toBe(500)
})

test('byte responses keep their own status and headers besides the common ones', async () => {
  const { ask } = await pipelineServer({
    endpoints: [
      testEndpoint(look, () =>
        createBytesAnswer({ status: 206, headers: { 'content-type': 'text/csv' }, body: ['a', 'b'] }),
      ),
    ],
  })
  const answer = await ask('/look/x')
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([206, 'text/csv', 'ab'])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
})

test('an error before the first chunk is a response, later the connection breaks', async () => {
  async function* pieces(first: boolean) {
    if (first) throw new AppError('file/changed', 'It has changed.')
    yield 'a'
    throw new AppError('file/changed', 'It has changed.')
  }
  const { ask } = await pipelineServer({
    endpoints: [
      testEndpoint(look, ({ params }) => createBytesAnswer({ headers: {}, body: pieces(params.id === 'first') })),
    ],
  })
  const answer = await ask('/look/first')
  expect([answer.status, (await answer.json()).code]).toEqual([409, 'file/changed'])
  await expect(ask('/look/later').then((it) => it.text())).rejects.toThrow()
})

test('an invalid response header does not affect other requests', async () => {
  const endpoint = testEndpoint(look, ({ params }, { setHeader }) => {
    setHeader('x-name', decodeURIComponent(params.id))
    return { id: params.id }
  })
  const { ask } = await pipelineServer({ endpoints: [endpoint] })
  await expect(ask('/look/a%0d%0aset-cookie:%20b')).rejects.toThrow()
  expect((await ask('/look/fine')).headers.get('x-name')).toBe('fine')
})
