import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createPayingAgent, type PayingAgent, passphrase } from '../support/processes/payingAgent.ts'
import { exchange, type Json } from '../support/processes/runningService.ts'

/** The stop switch stops models for all keys, running chats, tools and remembered approvals. */
let providers: ProviderServer
let paying: PayingAgent

beforeAll(async () => {
  providers = await createProviderServer()
  paying = await createPayingAgent({ inference: createInferenceOptions(providers) })
  await eventually(() => expect(paying.agent.connection().state).toBe('connected'))
})
afterAll(async () => {
  await paying?.close()
  await providers?.close()
})

const switchTo = (stopped: boolean) => paying.agent.approvals.switchStop(stopped)
const answer = { parts: [{ text: 'Hello.' }], usage: plainUsage }

test('every key is denied models directly and through the agent until the user resumes', async () => {
  const { key } = (await paying.service.send('/v1/auth/api-keys', { body: { name: 'claude-code' } })).json
  const ask = (origin: string, path: string) =>
    exchange(origin, path, {
      body: { model: 'kimi-k2.5', max_tokens: 99, messages: [{ role: 'user', content: 'Hello' }] },
      headers: { authorization: `Bearer ${key}` },
    })
  switchTo(true)
  for (const origin of [paying.service.url, paying.agent.origin]) {
    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      const refused = await ask(origin, path)
      expect([refused.status, refused.text], path).toEqual([403, expect.stringContaining('Everything is stopped.')])
    }
  }
  expect(providers.requests).toHaveLength(0)
  await paying.restart() // a stop survives a restart
  expect((await ask(paying.service.url, '/v1/messages')).status).toBe(403)
  await paying.agent.wallet.unlock(passphrase)
  switchTo(false)
  providers.play(answer)
  expect((await ask(paying.service.url, '/v1/messages')).status).toBe(200)
})

test('running chats end and none can start', async () => {
  const chat = (await paying.post('/local/chat/conversations', { models: ['kimi-k2.5'] })).json
  const send = () => paying.post(`/local/chat/conversations/${chat.id}/messages`, { parent_id: null, text: 'Hello' })
  const { promise, resolve } = Promise.withResolvers<void>()
  providers.clear()
  providers.play({ ...answer, until: promise })
  const [{ id }] = (await send()).json.answers
  await until('the provider to be asked', () => providers.requests.length === 1)
  switchTo(true)
  const ended: Json = await until('the answer to end', async () => {
    const { message } = (await paying.agent.send(`/local/chat/messages/${id}`)).json
    return message.finished_at === null ? undefined : message
  })
  expect(ended.state).toBe('stopped')
  resolve()
  expect(await send()).toMatchObject({ status: 403, json: { code: 'intent/stopped' } })
  switchTo(false)
  providers.play(answer)
  expect((await send()).status).toBe(201)
})

test('a streaming completion of an API key ends and is charged', async () => {
  const { key } = (await paying.service.send('/v1/auth/api-keys', { body: { name: 'claude-code' } })).json
  for (const origin of [paying.service.url, paying.agent.origin]) {
    const { promise, resolve } = Promise.withResolvers<void>()
    providers.clear()
    // The chat of the previous test may still request its title.
    providers.playAlways(() => ({ ...answer, parts: [{ text: 'Once upon a time there was' }], until: promise }))
    const response = await fetch(`${origin}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'kimi-k2.5', max_tokens: 99, stream: true },
        messages: [{ role: 'user', content: 'Tell a story' }],
      }),
    })
    expect(response.status).toBe(200)
    switchTo(true)
    const text = await response.text()
    expect(text).toContain('event: error')
    expect(text).toContain('Everything is stopped.')
    expect(text).not.toContain('message_stop')
    await eventually(() => expect(providers.leftConnections()).toBeGreaterThan(0))
    resolve()
    await eventually(async () => {
      const { json } = await paying.service.send('/v1/credits/balance')
      expect(json.held_cents).toBe(0)
    })
    const { transactions } = (await paying.service.send('/v1/credits/history?limit=1')).json
    expect(transactions[0]).toMatchObject({ type: 'inference', metadata: { estimated: true } })
    switchTo(false)
  }
})
