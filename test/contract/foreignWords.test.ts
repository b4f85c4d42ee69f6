import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServiceClient } from '#agent/connections/serviceClient.ts'
import { createHttpApiClient } from '#renderer/api/agentClient.ts'
import { listAccountActivity } from '#shared/contract/activity.ts'
import { ServiceEvent } from '#shared/contract/events.ts'
import { LocalEvent } from '#shared/contract/localApi.ts'
import { readEvent } from '#shared/contract/parseResponse.ts'
import type { Input, Route } from '#shared/contract/route.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { listSandboxes } from '#shared/contract/sandboxes.ts'
import { createContractRoutes } from '../support/fixtures/contractRoutes.ts'
import {
  createForeignSamples,
  createSample,
  foreignWord,
  valueAt,
  withForeignFields,
} from '../support/fixtures/contractSamples.ts'

let answer = ''
const server = createServer((_, response) => response.end(answer))
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const anyInput = (route: Route) => createSample(route.params) as Input<Route>

/** Reads a value as the response of a route over HTTP, in the local agent and in the window. */
async function readBoth(route: Route, value: unknown): Promise<{ client: string; read: unknown }[]> {
  answer = JSON.stringify(value)
  const client = createServiceClient(() => ({ url, key: 'sk_test', certificate: undefined }))
  const agent = createHttpApiClient((path, init) => fetch(url + path, init))
  try {
    return [
      { client: 'agent', read: await client.call(route, anyInput(route)) },
      { client: 'window', read: await agent(route, anyInput(route)) },
    ]
  } finally {
    await client.close()
  }
}

test('accepts unknown enum values in every response', async () => {
  const routes = new Set([...routeTable, ...(await createContractRoutes())])
  let wordCount = 0
  for (const route of routes) {
    for (const { path, value } of createForeignSamples(route.response)) {
      wordCount += 1
      for (const { client, read } of await readBoth(route, value)) {
        expect(valueAt(read, path), `${client}: ${route.operation} ${path.join('.')}`).toBe(foreignWord)
      }
    }
  }
  expect(wordCount).toBeGreaterThan(400)
})

test('ignores unknown fields in every response', async () => {
  for (const route of routeTable) {
    const valid = route.response.parse(createSample(route.response))
    for (const { client, read } of await readBoth(route, withForeignFields(valid))) {
      expect(read, `${client}: ${route.operation}`).toMatchObject(valid as object)
    }
  }
})

test('accepts unknown enum values in known events and skips unknown events', () => {
  for (const union of [ServiceEvent, LocalEvent]) {
    for (const option of union.options) {
      for (const { path, value } of createForeignSamples(option)) {
        const event = readEvent(union, value)
        if (path[0] === 'type') expect(event).toBeUndefined()
        else expect(valueAt(event, path), JSON.stringify(path)).toBe(foreignWord)
      }
    }
  }
})

test('validates requests and written responses strictly', () => {
  const route = listAccountActivity
  for (const { value } of createForeignSamples(route.response))
    expect(route.response.safeParse(value).success).toBe(false)
  for (const { body } of routeTable) {
    for (const { value } of createForeignSamples(body)) expect(body.safeParse(value).success).toBe(false)
  }
})

test('omits an unreadable entry and reports it', async () => {
  const sandbox = createSample(listSandboxes.response.shape.sandboxes.element) as object
  const broken = { ...sandbox, name: { of: 'another kind' } }
  answer = JSON.stringify({ sandboxes: [sandbox, broken], data: [sandbox], count: 2 })
  const counts: number[] = []
  const agent = createHttpApiClient(
    (path, init) => fetch(url + path, init),
    (count) => counts.push(count),
  )
  expect((await agent(listSandboxes, {})).sandboxes).toHaveLength(1)
  expect(counts).toEqual([1])
  // The agent compares such lists with its own state, so a truncated list would look like a removed sandbox.
  const client = createServiceClient(() => ({ url, key: 'sk_test', certificate: undefined }))
  await expect(client.call(listSandboxes, {})).rejects.toMatchObject({ code: 'service/unavailable' })
  await client.close()
})
