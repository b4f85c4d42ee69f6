import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ServiceEvent } from '#shared/contract/events.ts'
import { parseResponse, readEvent } from '#shared/contract/parseResponse.ts'
import type { Route } from '#shared/contract/route.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { createSample, createWordSamples } from '../support/fixtures/contractSamples.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'

/**
 * Tests the contract of the last released version against the current one in both directions, because a local agent of
 * one version may connect to a service of the other. After a release, run `node scripts/releasedContract.ts FOLDER
 * COMMIT`.
 */
type JsonSchema = Parameters<typeof z.fromJSONSchema>[0]
type Released = {
  version: string
  commit: string
  routes: {
    operation: string
    method: string
    path: string
    response?: JsonSchema
    answers?: unknown[]
    body?: JsonSchema
    bodies?: unknown[]
  }[]
  events: { type: string; schema: JsonSchema; samples: unknown[] }[]
}
const released = JSON.parse(
  readFileSync(join(projectFolder, 'test/support/fixtures/releasedContract.json'), 'utf8'),
) as Released
const findRoute = (operation: string): Route | undefined => routeTable.find((route) => route.operation === operation)
const pairs = released.routes.flatMap((old) => {
  const route = findRoute(old.operation)
  return route ? [{ old, route }] : []
})
const listIssues = (schema: JsonSchema, value: unknown) =>
  z
    .fromJSONSchema(schema)
    .safeParse(value)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)

/** Creates samples with all enum values that this version may write, and the smallest and largest responses. */
function createWrittenSamples(schema: z.ZodType): unknown[] {
  const samples = [
    createSample(schema, 'least'),
    createSample(schema, 'most'),
    ...createWordSamples(schema).map(({ value }) => value),
  ]
  return samples.filter((sample) => schema.safeParse(sample).success)
}

test('every released operation has its original method and path', () => {
  const removed = released.routes.filter(({ operation, method, path }) => {
    const route = findRoute(operation)
    return route?.method !== method || ![route.path, ...route.aliases].includes(path as Route['path'])
  })
  expect(removed.map(({ operation }) => operation)).toEqual([])
})

test('this service accepts requests of the last version', () => {
  for (const { old, route } of pairs) {
    for (const body of old.bodies ?? []) {
      expect(route.body.safeParse(body).error?.issues, `${old.operation} ${JSON.stringify(body)}`).toBeUndefined()
    }
  }
})

test('this local agent and window read responses of the last version', () => {
  for (const { old, route } of pairs) {
    for (const answer of old.answers ?? []) {
      expect(parseResponse(route, answer), `${old.operation} ${JSON.stringify(answer)}`).toMatchObject({
        success: true,
        unreadable: [],
      })
    }
  }
})

test('the last service accepts requests of this version', () => {
  for (const { old, route } of pairs) {
    if (!old.body) continue
    const smallest = createSample(route.body, 'least')
    if (route.body.safeParse(smallest).success) {
      expect(listIssues(old.body, smallest), `${old.operation} ${JSON.stringify(smallest)}`).toBeUndefined()
    }
  }
})

test('the last local agent and window read responses of this version', () => {
  for (const { old, route } of pairs) {
    if (!old.response) continue
    for (const answer of createWrittenSamples(route.response)) {
      expect(listIssues(old.response, answer), `${old.operation} ${JSON.stringify(answer)}`).toBeUndefined()
    }
  }
})

test('reads events in both directions and skips new ones', () => {
  for (const { type, schema, samples } of released.events) {
    for (const sample of samples) expect(readEvent(ServiceEvent, sample), type).toMatchObject({ type })
    const option = ServiceEvent.options.find((it) => it.shape.type.value === type)
    expect(option, `${type} is no longer published`).toBeDefined()
    if (option)
      for (const event of createWrittenSamples(option)) expect(listIssues(schema, event), type).toBeUndefined()
  }
})
