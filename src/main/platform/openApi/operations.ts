import type { z } from 'zod'
import { paymentHeaders } from '#shared/contract/payments.ts'
import type { Route, RouteAuth } from '#shared/contract/route.ts'
import { createErrorResponses, createTextHeaders, listErrorStatuses } from './responses.ts'
import type { JsonSchema, SchemaComponents } from './schemaComponents.ts'

/** Security scheme by name. The lists of scopes are empty. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

export type OperationContext = {
  schemas: SchemaComponents
  /** Security of an operation. Undefined: the document's default */
  securityOf: (auth: RouteAuth) => readonly SecurityRequirement[] | undefined
  /** Description of the response to a repeated `Idempotency-Key`. */
  repetition: string
}

/** Path that upgrades to a WebSocket. OpenAPI can describe only the handshake. */
export type SocketRoute = {
  operation: string
  path: `/${string}`
  summary: string
  /** Messages in both directions and close codes, in Markdown. */
  description: string
  tag: string
  auth: RouteAuth
  params?: z.ZodObject
  query?: z.ZodObject
  /** Schema of the JSON messages of the server, if it is a named schema. */
  messages?: z.ZodType
}

/**
 * Extension read by indexes of paid resources: https://github.com/Merit-Systems/x402scan/blob/main/docs/DISCOVERY.md
 */
const paymentInfo = { protocols: ['x402'], pricingMode: 'quote' }

export function createOperation(route: Route, operationId: string, context: OperationContext): JsonSchema {
  const { schemas, repetition } = context
  return {
    operationId,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    ...(route.sold && { 'x-payment-info': paymentInfo }),
    ...createSecurity(route.auth, context),
    parameters: [
      ...createParameters(schemas.jsonSchema(route.params, 'input'), 'path'),
      ...createParameters(schemas.jsonSchema(route.query, 'input'), 'query'),
      ...(route.idempotent ? [createIdempotencyParameter(repetition)] : []),
      ...createHeaderParameters(route),
      ...(route.sold ? createPaymentParameters() : []),
    ],
    ...(route.hasBody && { requestBody: createBody(schemas.jsonSchema(route.body, 'input'), route.example) }),
    ...(route.raw?.request !== undefined && { requestBody: { content: { [route.raw.request]: bytes } } }),
    responses: {
      [route.status]: createResponses(route, schemas),
      ...createErrorResponses(listErrorStatuses(route), route),
    },
  }
}

export function createSocketOperation(socket: SocketRoute, context: OperationContext): JsonSchema {
  const { operation, summary, description, tag, auth, params, query, messages } = socket
  const { schemas } = context
  if (messages) schemas.jsonSchema(messages, 'output') // adds the schema to the components
  return {
    operationId: operation,
    summary,
    description,
    tags: [tag],
    ...createSecurity(auth, context),
    ...((params || query) && {
      parameters: [
        ...(params ? createParameters(schemas.jsonSchema(params, 'input'), 'path') : []),
        ...(query ? createParameters(schemas.jsonSchema(query, 'input'), 'query') : []),
      ],
    }),
    responses: { 101: { description: 'Switched to a WebSocket.' }, ...createErrorResponses([400, 401, 403, 426]) },
  }
}

function createSecurity(auth: RouteAuth, { securityOf: createSecurity }: OperationContext): JsonSchema {
  const security = createSecurity(auth)
  return security === undefined ? {} : { security }
}

const bytes = { schema: { type: 'string', format: 'binary' } }
const text = { schema: { type: 'string' } }

function createResponses({ raw, response, idempotent, sold }: Route, schemas: SchemaComponents): JsonSchema {
  const json = () => ({ schema: schemas.jsonSchema(response, 'output') })
  if (raw?.response === undefined) {
    const content = { 'application/json': json() }
    const headers = {
      ...(idempotent && replayed),
      ...(sold && createTextHeaders(paymentHeaders.receipt, 'Receipt of the payment: base64 of JSON.')),
    }
    return { description: 'Done.', ...(Object.keys(headers).length > 0 && { headers }), content }
  }
  const createContent = (type: string) =>
    type === 'application/json' ? json() : type === 'text/event-stream' ? text : bytes
  const { mediaTypes, description } = raw.response
  return { description, content: Object.fromEntries(mediaTypes.map((type) => [type, createContent(type)])) }
}

const replayed = {
  'Idempotent-Replayed': {
    description: '`true` if the service has already received the Idempotency-Key. Otherwise absent.',
    schema: { type: 'string', enum: ['true'] },
  },
}

function createPaymentParameters(): JsonSchema[] {
  const { v1, v2 } = paymentHeaders.payment
  return [v2, v1].map((name) => ({
    name: name.toUpperCase(),
    in: 'header',
    required: false,
    description: 'Payment in response to a 402: base64-encoded JSON, as specified by x402.',
    schema: { type: 'string' },
  }))
}

function createHeaderParameters({ raw }: Route): JsonSchema[] {
  return Object.entries(raw?.headers ?? {}).map(([name, { description, required }]) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  }))
}

function createBody(schema: JsonSchema, example: Route['example']): JsonSchema {
  const required = Array.isArray(schema.required) && schema.required.length > 0
  return { required, content: { 'application/json': { schema, ...(example !== undefined && { example }) } } }
}

function createIdempotencyParameter(repetition: string): JsonSchema {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: `Any string; ${repetition}`,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  }
}

function createParameters(schema: JsonSchema, location: 'path' | 'query'): JsonSchema[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }))
}
