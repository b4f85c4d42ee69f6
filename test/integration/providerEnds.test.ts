import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** A provider may be removed because it costs money or leaks data, so no further requests may be sent to it. */
let providers: ProviderServer
let service: TestService
const pending: (() => void)[] = []

beforeAll(async () => {
  providers = await createProviderServer()
  service = await runningService({ host: 'none', inference: createInferenceOptions(providers) })
})
beforeEach(() => providers.clear())
afterAll(async () => {
  for (const release of pending) release()
  await service?.close()
  await providers?.close()
})

const tool = () => ({ name: 'tool', ...providers.providerOf('local:shed'), models: [{ name: 'tool-model' }] })

async function ask(model: string, stream: boolean): Promise<{ begun: Promise<Response>; text: Promise<string> }> {
  const { promise, resolve } = Promise.withResolvers<void>()
  pending.push(resolve)
  providers.play({ parts: [{ text: 'Once upon a time there was' }], usage: plainUsage, until: promise })
  const begun = fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Tell a story' }] }),
  })
  if (stream) await begun
  else await eventually(() => expect(providers.requests).toHaveLength(1))
  return { begun, text: begun.then((response) => response.text()) }
}

const changed = 'The provider of this model was removed, or its address or key changed.'

test.each([
  ['removed', () => service.models.setLocalServers([])],
  ['given another key', () => service.models.setLocalServers([{ ...tool(), apiKey: 'another' }])],
  ['moved', () => service.models.setLocalServers([{ ...tool(), baseUrl: 'http://127.0.0.1:9/v1' }])],
])('a model server that is %s ends its completions', async (_, change) => {
  service.models.setLocalServers([tool()])
  const { text } = await ask('tool-model', true)
  service.models.setLocalServers([tool()]) // unchanged
  expect(providers.leftConnections()).toBe(0)
  change()
  const whole = await text
  expect(whole).toContain(changed)
  expect(whole).not.toContain('[DONE]')
  await eventually(() => expect(providers.leftConnections()).toBe(1))
})

test('replacing a provider key ends and charges the requests that use it', async () => {
  const { apiKey } = providers.providerOf('d')
  service.models.setProviderKey('d', apiKey)
  const plain = await ask('kimi-k2.5', false)
  service.models.setProviderKey('a', 'of another family')
  service.models.setProviderKey('d', apiKey) // unchanged
  expect(providers.leftConnections()).toBe(0)
  service.models.setProviderKey('d', 'another')
  const answer = await plain.begun
  expect(answer.status).toBe(503)
  expect(await plain.text).toContain(changed)
  await eventually(() => expect(providers.leftConnections()).toBe(1))
  await eventually(async () => {
    const { transactions } = (await service.send('/v1/credits/history?limit=1')).json
    expect(transactions[0]).toMatchObject({ type: 'inference', metadata: { estimated: true } })
  })
  expect((await service.send('/v1/credits/balance')).json.held_cents).toBe(0)
})
