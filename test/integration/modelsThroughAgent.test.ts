import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { modelBody, modelPaths, modelService, requestModel } from '../support/models/modelService.ts'
import { chatFrames, plainUsage } from '../support/models/scriptedAnswer.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'

/** Programs on this computer call models at the address of the application, which forwards them to its service. */
const { service, providers, balance, close } = await modelService()
let agent: RunningAgent
let key: string
beforeAll(async () => {
  const target = { url: service.url, key: service.key, certificate: undefined }
  agent = await createRunningAgent({
    ...{ dataFolder: temporaryFolder('agent'), target },
    tellService(order) {
      if (order.event === 'models-stopped') service.models.setStopped(order.stopped)
    },
  })
  key = (await service.send('/v1/auth/api-keys', { body: { name: 'coding agent', models: ['gpt-5.2'] } })).json.key
})
afterAll(async () => {
  await agent?.close()
  await close()
})
beforeEach(() => providers.clear())

const ways = (['chat', 'responses', 'messages'] as const).flatMap((dialect) =>
  [false, true].map((stream) => ({ dialect, stream })),
)

test.each(ways)('$dialect, stream $stream: works with an API key and returns its cost and changes', async (way) => {
  const through = { url: agent.origin, key }
  const { status, body, headers } = await requestModel(through, { ...way, model: 'gpt-5.2' })
  expect([status, body.usage.cost.currency]).toEqual([200, 'USD'])
  if (way.dialect !== 'messages') expect(headers['x-steward-max-tokens']).toBe('16384')
  expect((await requestModel(through, { ...way, model: 'kimi-k2.5' })).status).toBe(403)
  expect((await requestModel({ ...through, key: 'sk_steward_wrong' }, { ...way, model: 'gpt-5.2' })).status).toBe(401)
})

test('rejects a request without its own API key unless it comes from the window', async () => {
  const { status } = await fetch(agent.origin + modelPaths.chat, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(modelBody({ dialect: 'chat', model: 'gpt-5.2' })),
  })
  expect(status).toBe(401)
  expect(providers.requests).toEqual([])
})

test.each([
  ['a wrong key', 'POST', modelPaths.chat, 'sk_steward_wrong', 401, 'false'],
  ['another method', 'GET', modelPaths.chat, undefined, 405, null],
  ['another method of Messages', 'PUT', modelPaths.messages, undefined, 405, null],
  ['an unknown path of Messages', 'POST', `${modelPaths.messages}/batches`, undefined, 404, 'false'],
  ['no field', 'POST', modelPaths.responses, undefined, 400, 'false'],
])(
  '%s returns an error in the API format with the headers that clients need',
  async (_, method, path, wrongKey, status, retry) => {
    const authorization = `Bearer ${wrongKey ?? key}`
    const body = method === 'GET' ? {} : { body: '{}' }
    const answers = await Promise.all(
      [service.url, agent.origin].map((origin) =>
        fetch(origin + path, { method, headers: { 'content-type': 'application/json', authorization }, ...body }),
      ),
    )
    for (const answer of answers) {
      const error = await answer.json()
      expect([answer.status, typeof error.error.message, error.type]).toEqual([
        status,
        'string',
        path.startsWith(modelPaths.messages) ? 'error' : undefined,
      ])
      expect(answer.headers.get('x-should-retry')).toBe(retry)
      expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
      const [id, requestId] = [answer.headers.get('x-request-id'), answer.headers.get('request-id')]
      expect([id, requestId]).toEqual([expect.stringMatching(/^req_[0-9a-f]{32}$/), id])
    }
    const ids = answers.map(({ headers }) => headers.get('request-id'))
    expect(new Set(ids).size).toBe(2)
  },
)

test('streams event by event and closes the provider connection when the client disconnects', async () => {
  const frames = chatFrames({ parts: [{ text: 'one two three' }], usage: plainUsage }).slice(0, 3)
  providers.play({ frames, after: 'silence' })
  const leaving = new AbortController()
  const answer = await fetch(agent.origin + modelPaths.chat, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(modelBody({ dialect: 'chat', model: 'gpt-5.2', stream: true })),
    signal: leaving.signal,
  })
  const reader = answer.body?.getReader()
  let received = ''
  // The provider sends nothing after this chunk and leaves the connection open.
  while (!received.includes('"one t"')) {
    const piece = await reader?.read()
    if (!piece || piece.done) throw new Error(`It ended with ${received}`)
    received += Buffer.from(piece.value).toString()
  }
  expect(providers.leftConnections()).toBe(0)
  leaving.abort()
  await eventually(() => expect(providers.leftConnections()).toBe(1))
  await eventually(async () => expect((await balance()).held).toBe(0))
  const { json } = await service.send('/v1/credits/history?limit=1')
  expect(json.transactions).toMatchObject([{ description: 'gpt-5.2', metadata: { estimated: true } }])
})

test.each([
  [
    'its key is revoked',
    'This API key was revoked.',
    (id: string) => service.send(`/v1/auth/api-keys/${id}`, { method: 'DELETE' }),
  ],
  ['everything is stopped', 'Everything is stopped.', async () => agent.approvals.switchStop(true)],
])('a streaming completion ends when %s', async (_, reason, end) => {
  const key = (await service.send('/v1/auth/api-keys', { body: { name: 'streams' } })).json
  const { promise, resolve } = Promise.withResolvers<void>()
  providers.play({ parts: [{ text: 'word' }], usage: plainUsage, until: promise })
  const answer = await fetch(agent.origin + modelPaths.chat, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key.key}` },
    body: JSON.stringify(modelBody({ dialect: 'chat', model: 'gpt-5.2', stream: true })),
  })
  expect(answer.status).toBe(200)
  await end(key.id)
  const text = await answer.text().catch(() => 'cut off')
  expect(text).toContain(reason)
  expect(text).not.toContain('[DONE]')
  resolve()
  agent.approvals.switchStop(false)
})
