import { validate } from '@scalar/openapi-validator'
import { expect, test } from 'vitest'
import { ServiceEvent } from '#shared/contract/events.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { createServiceDocument } from './serviceDocument.ts'

const document = createServiceDocument({ routes: routeTable, version: '1.2.3' })
// Looked into path by path below.
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
const { paths, components, info } = document as any

test('is a valid OpenAPI 3.1 document', () => {
  const { valid, errors } = validate(document)
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
  expect(document.openapi).toBe('3.1.0')
  expect(info.version).toBe('1.2.3')
})

test('lists every path, alias and method of the contract under a unique name', () => {
  const names: string[] = []
  for (const route of routeTable) {
    for (const path of [route.path, ...route.aliases]) {
      const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[route.method.toLowerCase()]
      expect(operation, `${route.method} ${path}`).toMatchObject({ summary: route.summary, tags: [route.tag] })
      expect(Object.keys(operation.responses)).toContain(String(route.status))
      names.push(operation.operationId)
    }
  }
  expect(new Set(names).size).toBe(names.length)
})

test('documents the three forms of a key and requires none for health', () => {
  expect(Object.keys(components.securitySchemes)).toEqual(['bearerKey', 'rawKey', 'apiKeyHeader'])
  expect(paths['/health'].get.security).toEqual([])
})

test('documents field limits and defaults, flags and the Idempotency-Key header', () => {
  const body = paths['/v1/sandboxes'].post.requestBody
  expect(body.content['application/json'].schema.properties.vcpu).toMatchObject({ minimum: 1, maximum: 4, default: 1 })
  expect(paths['/v1/sandboxes'].post.parameters).toContainEqual(
    expect.objectContaining({ name: 'Idempotency-Key', in: 'header', required: false }),
  )
  const full = paths['/v1/sandboxes/{id}/pty/{sessionId}/read'].get.parameters.find(
    (it: { name: string }) => it.name === 'full',
  )
  expect(full.schema).toEqual({ type: 'boolean' })
})

test('documents the handshake and the messages of WebSockets', () => {
  expect(paths['/v1/events'].get).toMatchObject({ operationId: 'events', responses: { 101: {}, 426: {} } })
  const says = (components.schemas.ServiceEvent.oneOf as { properties: { type: { const: string } } }[]).map(
    ({ properties }) => properties.type.const,
  )
  expect(says).toEqual(ServiceEvent.options.map(({ shape }) => shape.type.value))
  expect(
    paths['/v1/sandboxes/{id}/pty/{sessionId}/stream'].get.parameters.map((it: { in: string }) => it.in),
  ).toContain('path')
})

test('describes errors and shared shapes once', () => {
  expect(components.schemas.Error.required).toEqual(['error', 'code'])
  expect(components.schemas.Sandbox.properties.id.pattern).toBe('^[0-9a-f]{32}$')
  const answer = paths['/v1/sandboxes/{id}'].get.responses[200].content['application/json'].schema
  expect(answer).toEqual({ $ref: '#/components/schemas/Sandbox' })
  expect(JSON.stringify(document)).not.toContain('$defs')
})
