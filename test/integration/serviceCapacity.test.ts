import { afterAll, beforeAll, expect, test } from 'vitest'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** The number of running sandboxes is limited by the capacity of the computer. */
let service: TestService

beforeAll(async () => {
  service = await runningService({ maxActiveSandboxes: 1 })
})
afterAll(() => service?.close())

const noCapacity = {
  status: 503,
  json: {
    error: 'No capacity',
    code: 'sandbox/capacity',
    detail: 'At most 1 sandboxes can run at once.',
    hint: expect.any(String),
  },
}

test('rejects a sandbox above capacity, and a stopped one must wait for capacity', async () => {
  const first = await service.send('/v1/sandboxes', { body: {} })
  expect(first.status, first.text).toBe(201)
  expect(await service.send('/v1/sandboxes', { body: {} })).toMatchObject(noCapacity)
  const list = await service.send('/v1/sandboxes')
  expect(list.json.count).toBe(1)

  await service.send(`/v1/sandboxes/${first.json.id}/stop`, { method: 'POST' })
  const second = await service.send('/v1/sandboxes', { body: {} })
  expect(second.status, second.text).toBe(201)
  expect(await service.send(`/v1/sandboxes/${first.json.id}/start`, { method: 'POST' })).toMatchObject(noCapacity)

  await service.send(`/v1/sandboxes/${second.json.id}`, { method: 'DELETE' })
  const again = await service.send(`/v1/sandboxes/${first.json.id}/start`, { method: 'POST' })
  expect(again.status, again.text).toBe(200)
})
