import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Programs that register automatons over the local API, and retry requests whose response was lost. */
const dataFolder = temporaryFolder('agent')
let service: TestService
let agent: RunningAgent
let otherKey: string

const start = () =>
  createRunningAgent({ dataFolder, target: { url: service.url, key: service.key, certificate: undefined } })

beforeAll(async () => {
  service = await runningService({ host: 'none' })
  otherKey = (await service.send('/v1/auth/api-keys', { body: { name: 'another program' } })).json.key
  agent = await start()
  const phrase = await agent.wallet.makePhrase(12)
  await agent.wallet.addPhrase({ phrase, writtenDown: true, passphrase: 'several plain words' })
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

type RequestFields = { once?: string; key?: string; name?: string; path?: string; body?: object }

function ask({
  once,
  key = service.key,
  name = 'Ada',
  path = '/local/automatons',
  body = { name },
}: RequestFields = {}) {
  const headers = { 'x-api-key': key, ...(once !== undefined && { 'idempotency-key': once }) }
  return exchange(agent.origin, path, { headers, body })
}

const waiting = () => agent.approvals.list({ state: 'waiting', limit: 100 }).intents.map(({ id }) => id)

test('concurrent requests with one key create one registration and one signing request', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => ask({ once: 'together' })))
  const [first] = answers
  expect(first).toMatchObject({ status: 201, json: { state: 'waiting' } })
  for (const { status, json } of answers) expect([status, json]).toEqual([201, first?.json])
  const replayed = answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')
  expect(replayed).toHaveLength(2)
  expect((await agent.send('/local/automatons')).json.registrations).toEqual([first?.json])
  expect(waiting()).toEqual([first?.json.intent_id])
})

test('a retry returns the registration state without registering twice, even after a restart', async () => {
  const { id, intent_id, profile } = (await ask({ once: 'later' })).json
  await agent.approvals.decide(intent_id, { approve: true, confirmed: false })
  const again = await until('it is registered', async () => {
    const answer = await ask({ once: 'later' })
    return answer.json.state === 'registered' ? answer : undefined
  })
  expect(again).toMatchObject({ status: 201, json: { id, profile, automaton: profile } })
  await agent.close()
  agent = await start()
  const restarted = await until('the key is known', async () => {
    const answer = await ask({ once: 'later' })
    return answer.status === 201 ? answer : undefined
  })
  expect(restarted.json).toEqual(again.json)
  expect(restarted.headers).toMatchObject({ 'idempotent-replayed': 'true' })
})

test('an Idempotency-Key belongs to one request of one program', async () => {
  const first = await ask({ once: 'mine' })
  const reused = { status: 409, json: { code: 'request/reused-key' } }
  expect(await ask({ once: 'mine', name: 'Eve' })).toMatchObject(reused)
  const intent = { kind: 'siwe', domain: 'app.example', uri: 'https://app.example/', nonce: 'abcdefgh12345678' }
  expect(await ask({ once: 'mine', path: '/local/intents', body: { intent } })).toMatchObject(reused)
  expect(await ask({ once: '' })).toMatchObject({ status: 400, json: { code: 'request/invalid' } })

  const others = await ask({ once: 'mine', key: otherKey })
  expect(others.status).toBe(201)
  expect(others.headers).not.toHaveProperty('idempotent-replayed')
  const without = await ask()
  expect(new Set([first, others, without].map(({ json }) => json.id)).size).toBe(3)
})

test('does not store a refusal, so the key can be used again', async () => {
  const before = waiting()
  expect(await ask({ once: 'refused', name: 'a\u0000b' })).toMatchObject({
    status: 400,
    json: { code: 'intent/invalid' },
  })
  expect(waiting()).toEqual(before)
  const response = await ask({ once: 'refused' })
  expect(response.status).toBe(201)
  expect(response.headers).not.toHaveProperty('idempotent-replayed')
})

test('does not send a signed registration after its wallet account was removed', async () => {
  await agent.close()
  const target = { url: service.url, key: service.key, certificate: undefined }
  agent = await createRunningAgent({ dataFolder, target })
  const passphrase = 'several plain words'
  await agent.wallet.unlock(passphrase)
  const { id, intent_id, profile } = (await agent.send('/local/automatons', { body: { name: 'Late' } })).json
  target.url = 'http://127.0.0.1:9' // no listener
  await agent.approvals.decide(intent_id, { approve: true, confirmed: false })
  const find = async () =>
    (await agent.send('/local/automatons')).json.registrations.find((it: { id: string }) => it.id === id)
  await until('it was tried', async () => (await find()).detail)
  const [phrase] = (await agent.wallet.status()).keyrings
  if (!phrase) throw new Error('There is no phrase.')
  await agent.wallet.remove(phrase.id, { typedLabel: phrase.label, passphrase })
  target.url = service.url
  const sent = (await agent.send(`/local/automatons/${id}/send`, { method: 'POST' })).json
  expect(sent).toMatchObject({ state: 'failed', detail: 'The wallet account was removed.', automaton: null })
  expect((await service.send(`/v1/automatons/${profile.automaton_id}`)).status).toBe(404)
})
