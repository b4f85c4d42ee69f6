import { errorCatalogue } from '../../../shared/appError.ts'
import { eventsPath } from '../../../shared/contract/events.ts'
import type { Route } from '../../../shared/contract/route.ts'
import { StreamQuery, terminalStreamPath } from '../../../shared/contract/terminalStream.ts'
import { TerminalParams } from '../../../shared/contract/terminals.ts'
import { type JsonSchema, schemaComponents } from './schemaComponents.ts'

type Schemas = ReturnType<typeof schemaComponents>

const about = `One service for sandboxes with their terminals and files, for accounts that sign in with a wallet, and for the identities of automatons.

Every answer is a JSON object. Errors are \`{"error", "code", "detail"?, "hint"?}\`: \`code\` is stable, the sentences may change.
Times are ISO 8601 in UTC with milliseconds. \`Idempotency-Key\` on what creates or executes makes a repetition within
24 hours return the first answer.

Programs bring an API key. People sign in with a wallet: a nonce, a message of EIP-4361 (or of its Solana twin) that names it,
its signature; then an access token for an hour and a refresh token for thirty days, which serves once.

This is the service. What the application adds beside it for programs, below \`/local/\`, is in docs/api.md.`

/** The OpenAPI 3.1 description of the routes, made from the very schemas that check them. */
export function openApiDocument(given: { routes: readonly Route[]; version: string }): JsonSchema {
  const schemas = schemaComponents()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  const add = (path: string, method: string, operation: JsonSchema) => {
    const name = path.replace(/:(\w+)/g, '{$1}')
    paths[name] = { ...paths[name], [method.toLowerCase()]: operation }
  }
  for (const route of given.routes) {
    add(route.path, route.method, operationOf(route, route.operation, schemas))
    for (const [index, alias] of route.aliases.entries()) {
      const name = `${route.operation}Alias${index === 0 ? '' : index + 1}`
      add(alias, route.method, operationOf(route, name, schemas))
    }
  }
  add(terminalStreamPath, 'GET', terminalStreamOperation(schemas))
  add(eventsPath, 'GET', eventsOperation)
  return {
    openapi: '3.1.0',
    info: { title: 'Steward', version: given.version, description: about },
    servers: [{ url: '/', description: 'Where this document comes from.' }],
    tags: [...new Set(given.routes.map(({ tag }) => tag)), 'Events'].map((name) => ({ name })),
    security: [{ bearerKey: [] }, { rawKey: [] }, { apiKeyHeader: [] }],
    paths,
    components: {
      schemas: { ...schemas.components, Error: errorSchema },
      securitySchemes: {
        bearerKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, the access token of a sign-in, or the token of a terminal link.',
        },
        rawKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The API key without a scheme.' },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', description: 'One sentence that names the value that was wrong.' },
    code: { type: 'string', enum: Object.keys(errorCatalogue) },
    detail: { type: 'string' },
    hint: { type: 'string', description: 'What to do about it.' },
  },
}

function operationOf(route: Route, operationId: string, schemas: Schemas): JsonSchema {
  return {
    operationId,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    ...(route.auth === 'none' && { security: [] }),
    parameters: [
      ...parameters(schemas.jsonSchema(route.params, 'input'), 'path'),
      ...parameters(schemas.jsonSchema(route.query, 'input'), 'query'),
      ...(route.idempotent ? [idempotencyKey] : []),
      ...headerParameters(route),
    ],
    ...(route.hasBody && { requestBody: bodyOf(schemas.jsonSchema(route.body, 'input')) }),
    ...(route.raw?.request !== undefined && { requestBody: { content: { [route.raw.request]: bytes } } }),
    responses: {
      [route.status]: answerOf(route, schemas),
      ...Object.fromEntries(errorsOf(route).map((status) => [status, errorResponse(status)])),
    },
  }
}

const bytes = { schema: { type: 'string', format: 'binary' } }

function answerOf({ raw, response }: Route, schemas: Schemas): JsonSchema {
  if (raw?.response === undefined) {
    return { description: 'Done.', content: { 'application/json': { schema: schemas.jsonSchema(response, 'output') } } }
  }
  const { mediaTypes, description } = raw.response
  return { description, content: Object.fromEntries(mediaTypes.map((type) => [type, bytes])) }
}

function headerParameters({ raw }: Route): JsonSchema[] {
  return Object.entries(raw?.headers ?? {}).map(([name, { description, required }]) => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  }))
}

function bodyOf(schema: JsonSchema): JsonSchema {
  const required = Array.isArray(schema.required) && schema.required.length > 0
  return { required, content: { 'application/json': { schema } } }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Any string; the same key with the same request returns the first answer for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

function parameters(schema: JsonSchema, place: 'path' | 'query'): JsonSchema[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}

const meanings: Readonly<Record<number, string>> = {
  400: 'A field or the body is not valid.',
  401: 'The credential is missing, wrong or over.',
  403: 'Not allowed with this key, host or origin.',
  404: 'Not there, or not yours.',
  409: 'Its present state does not allow this, or the Idempotency-Key was used otherwise.',
  413: 'Too large.',
  415: 'The body is of another kind.',
  416: 'There is nothing in this range.',
  429: 'Too many; wait as long as `Retry-After` says.',
  500: 'Something unexpected went wrong.',
  503: 'The sandbox host or what it needs is not available.',
}

function errorsOf(route: Route): number[] {
  const takesInput = route.hasBody || [route.params, route.query].some(({ shape }) => Object.keys(shape).length > 0)
  const all = [
    ...(takesInput ? [400] : []),
    ...(route.auth === 'none' ? [] : [401]),
    403,
    ...(route.path.includes(':') ? [404] : []),
    ...(route.path.includes('/sandboxes/') || route.idempotent ? [409] : []),
    ...(route.hasBody || route.raw?.request !== undefined ? [413, 415] : []),
    ...(route.raw?.headers.Range ? [416] : []),
    429,
    500,
    503,
    ...route.refusals,
  ]
  return [...new Set(all)]
}

function errorResponse(status: number): JsonSchema {
  return {
    description: meanings[status] ?? 'Refused.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    ...(status === 429 && {
      headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } },
    }),
  }
}

const upgraded = { description: 'Switched to a WebSocket.' }
const upgradeErrors = Object.fromEntries([400, 401, 403, 426].map((status) => [status, errorResponse(status)]))

function terminalStreamOperation(schemas: Schemas): JsonSchema {
  return {
    operationId: 'terminalStream',
    summary: 'Watch and type into a terminal (WebSocket)',
    description:
      'The server sends `attached` as JSON, one binary frame that draws the present screen, then raw output as binary frames with ' +
      '`resized`, `title` and `exited` in between. The client sends `input`, `resize` and `ack` as JSON; unacknowledged output is held back ' +
      'beyond 1 MiB. It closes with 1000 after the exit, 4004 when there is no such terminal, 4008 for a viewer that does not ' +
      'acknowledge, and 4503 while the sandbox host is away: attach again then.',
    tags: ['Terminals'],
    parameters: [
      ...parameters(schemas.jsonSchema(TerminalParams, 'input'), 'path'),
      ...parameters(schemas.jsonSchema(StreamQuery, 'input'), 'query'),
    ],
    responses: { 101: upgraded, ...upgradeErrors },
  }
}

const eventsOperation = {
  operationId: 'events',
  summary: 'Hear of every change of your sandboxes and terminals (WebSocket)',
  description:
    'JSON messages: `ready` first, and again whenever lists should be read anew; then `sandbox.changed`, `sandbox.removed`, ' +
    '`terminal.changed` and `terminal.removed`.',
  tags: ['Events'],
  responses: { 101: upgraded, ...upgradeErrors },
}
