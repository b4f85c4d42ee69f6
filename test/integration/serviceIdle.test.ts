import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Sandboxes that stop when idle, on a clock controlled by the test. */
let service: TestService
let aheadMs = 0

beforeAll(async () => {
  service = await runningService({ now: () => Date.now() + aheadMs, idleCheckMs: 20 })
})
afterAll(() => service?.close())

async function createSandbox(body: Json): Promise<Json> {
  const answer = await service.send('/v1/sandboxes', { body })
  expect(answer.status, answer.text).toBe(201)
  return answer.json
}
const read = async (id: string): Promise<Json> => (await service.send(`/v1/sandboxes/${id}`)).json
const minutesLater = (count: number): void => {
  aheadMs += count * 60_000
}

test('an idle sandbox stops and one with a terminal runs until the terminal exits', async () => {
  const unused = await createSandbox({ idle_minutes: 5 })
  const watched = await createSandbox({ idle_minutes: 5 })
  const without = await createSandbox({})
  expect([unused.idle_minutes, without.idle_minutes]).toEqual([5, null])
  const terminal = await service.send(`/v1/sandboxes/${watched.id}/pty`, { body: { command: 'cat' } })

  minutesLater(6)
  await until('it to stop', async () => (await read(unused.id)).status === 'stopped')
  expect(await read(unused.id)).toMatchObject({ status_reason: 'Stopped after 5 minutes without use.' })
  expect(await read(watched.id)).toMatchObject({ status: 'running' })
  expect(await read(without.id)).toMatchObject({ status: 'running' })

  await service.send(`/v1/sandboxes/${watched.id}/pty/${terminal.json.session_id}`, { method: 'DELETE' })
  minutesLater(6)
  await until('it to stop', async () => (await read(watched.id)).status === 'stopped')
  expect(await read(without.id)).toMatchObject({ status: 'running' })

  const again = await service.send(`/v1/sandboxes/${unused.id}/start`, { method: 'POST' })
  expect(again.json).toMatchObject({ status: 'running', idle_minutes: 5 })
})

test('the policy can be changed and removed', async () => {
  const { id } = await createSandbox({ idle_minutes: 5 })
  const patch = (body: Json) => service.send(`/v1/sandboxes/${id}`, { method: 'PATCH', body })
  expect((await patch({ idle_minutes: null })).json).toMatchObject({ idle_minutes: null, status: 'running' })
  const { json } = await service.send(`/v1/sandboxes/${id}/activity`)
  expect(json.activities[0]).toMatchObject({ type: 'sandbox.changed', description: 'No longer stops when idle.' })
  expect((await patch({ idle_minutes: 1, network: 'none' })).json).toMatchObject({ idle_minutes: 1 })
  minutesLater(2)
  await until('it to stop', async () => (await read(id)).status === 'stopped')
})

test.each([
  [{ idle_minutes: 0 }, '`idle_minutes` must be a whole number from 1 to 10080.'],
  [{ idle_minutes: 10_081 }, '`idle_minutes` must be a whole number from 1 to 10080.'],
  [{ idle_minutes: 1.5 }, '`idle_minutes` must be a whole number from 1 to 10080.'],
  [{ network: 'wild' }, '`network` must be none, internet or open.'],
])('%j is refused', async (body, error) => {
  const { status, json } = await service.send('/v1/sandboxes', { body })
  expect({ status, json }).toMatchObject({ status: 400, json: { error, code: 'request/invalid' } })
})

test('rejects a change that changes nothing', async () => {
  const { id } = await createSandbox({})
  const { status, json } = await service.send(`/v1/sandboxes/${id}`, { method: 'PATCH', body: {} })
  expect(status).toBe(400)
  expect(json.error).toContain('must change something')
})
