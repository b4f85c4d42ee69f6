import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { createInferenceConfig } from '../support/models/inferenceConfig.ts'
import { type ModelRequest, microBalance, requestModel } from '../support/models/modelService.ts'
import { createProviderServer } from '../support/models/providerServer.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'

/** The service is killed after providers have responded, or started to, and before settlement. */
const providers = await createProviderServer()
let service: ServiceProcess
beforeAll(async () => {
  service = await createServiceProcess(undefined, createInferenceConfig(providers))
})
afterAll(async () => {
  await service?.close()
  await providers.close()
})

const balance = () => microBalance(service.url, service.key)
const charges = async () => {
  const { json } = await service.send('/v1/credits/history?limit=100')
  return json.transactions.filter((it: { type: string }) => it.type === 'inference')
}

test('charges a request interrupted by kill -9 once and a completed request only once', async () => {
  const ways = (['chat', 'responses', 'messages'] as const).flatMap((dialect) =>
    ['gpt-5.2', 'claude-sonnet-4.5', 'gemini-3-pro'].flatMap((model) =>
      [false, true].map((stream): ModelRequest => ({ dialect, model, stream })),
    ),
  )
  const before = await balance()
  const answered = await Promise.all(ways.map((it) => requestModel(service, it)))
  const spentMicroUsd = answered.reduce((sum, { body }) => sum + body.usage.cost.micro_usd, 0)
  expect((await balance()).posted).toBe(before.posted - spentMicroUsd)

  let end = () => {}
  const until = new Promise<void>((resolve) => {
    end = resolve
  })
  providers.clear()
  providers.playAlways(() => ({ parts: [{ text: 'The beginning of an answer.' }], usage: plainUsage, until }))
  const cut = ways.map((way) => requestModel(service, way).catch(() => undefined))
  await eventually(() => expect(providers.requests).toHaveLength(ways.length))
  const { held: heldMicroUsd } = await balance()
  expect(heldMicroUsd).toBeGreaterThan(0)
  await service.restart('SIGKILL')
  end()
  await Promise.all(cut)

  const whole = { posted: expect.any(Number), held: 0 }
  const after = await balance()
  expect(after).toEqual(whole)
  expect(before.posted - spentMicroUsd - after.posted).toBeGreaterThan(0)
  expect(before.posted - spentMicroUsd - after.posted).toBeLessThanOrEqual(heldMicroUsd)
  const charged = await charges()
  expect(charged).toHaveLength(2 * ways.length)
  expect(charged.slice(0, ways.length)).toEqual(
    ways.map(() => expect.objectContaining({ metadata: { estimated: true, interrupted: true } })),
  )
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await service.restart(signal)
    expect(await balance()).toEqual(after)
    expect(await charges()).toHaveLength(2 * ways.length)
  }
})
