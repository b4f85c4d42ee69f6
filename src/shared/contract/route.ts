import { z } from 'zod'

/** Error formats: the standard one, and those of the model dialects. */
export type ErrorDialect = 'default' | 'openai' | 'anthropic'

/** HTTP method of a route. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Required credential. Service: `none`; `key`, any credential; `account`, a sign-in or the key of the owner's file, but
 * not the API key of a program; `owner`; `person`, only the session of the user at this computer. Local agent
 * (`/local/…`): `person`, and `client`, which also accepts API keys of its account.
 */
export type RouteAuth = 'none' | 'key' | 'account' | 'owner' | 'person' | 'client'

const Nothing = z.object({})

/**
 * Operation of the API. Validation, typed client and OpenAPI document are derived from it. `path` contains parameters
 * as `:name`; `params` has a schema for each.
 */
export type Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Response extends z.ZodType = z.ZodType,
> = {
  /** Operation id in OpenAPI and in generated clients, such as `sandboxCreate`. */
  operation: string
  method: Method
  path: `/${string}`
  /** Alternative paths with the same behavior. */
  aliases: readonly `/${string}`[]
  summary: string
  /** Behavior, limits and refusals that are not in the summary or the fields, in Markdown. */
  description: string | undefined
  example: Readonly<Record<string, unknown>> | undefined
  tag: string
  params: Params
  query: Query
  body: Body
  hasBody: boolean
  response: Response
  status: 200 | 201
  auth: RouteAuth
  /** Error statuses of this route in addition to the common ones. */
  refusals: readonly number[]
  /** Format of error responses. */
  errors: ErrorDialect
  /** Whether the route is paid with x402. Requests without a payment receive a 402 response. */
  sold: boolean
  /** Whether the route supports `Idempotency-Key`. True for everything that creates, executes, transfers or pays. */
  idempotent: boolean
  /** Maximum size of the request body, in bytes. */
  maxBodyBytes: number
  /** Bodies that are not JSON. */
  raw: RawBodies | undefined
}

/** Binary bodies, which are streamed in both directions. They have no schema and are never buffered whole. */
export type RawBodies = {
  /** Media type of the request body. Absent if there is no body. */
  request?: string
  /** Media types and description of the response body. Absent for JSON. Errors are always JSON. */
  response?: { mediaTypes: readonly string[]; description: string }
  /** Request headers that the route reads. */
  headers: Readonly<Record<string, { description: string; required: boolean }>>
}

type Definition<P, Q, B, R> = {
  operation: string
  method: Method
  path: `/${string}`
  aliases?: readonly `/${string}`[]
  summary: string
  description?: string
  example?: z.input<NoInfer<B>>
  tag: string
  params?: P
  query?: Q
  body?: B
  response: R
  status?: 200 | 201
  auth?: RouteAuth
  refusals?: readonly number[]
  errors?: ErrorDialect
  sold?: boolean
  idempotent?: boolean
  maxBodyBytes?: number
  raw?: RawBodies
}

const defaultMaxBodyBytes = 256 * 1024

/** Defines a route and applies the defaults of its optional properties. */
export function defineRoute<
  R extends z.ZodType,
  P extends z.ZodObject = typeof Nothing,
  Q extends z.ZodObject = typeof Nothing,
  B extends z.ZodObject = typeof Nothing,
>(definition: Definition<P, Q, B, R>): Route<P, Q, B, R> {
  return {
    aliases: [],
    status: 200,
    auth: 'key',
    description: undefined,
    example: undefined,
    refusals: [],
    errors: 'default',
    sold: false,
    idempotent: false,
    maxBodyBytes: defaultMaxBodyBytes,
    raw: undefined,
    ...definition,
    hasBody: definition.body !== undefined,
    params: definition.params ?? (Nothing as unknown as P), // `P` is `typeof Nothing` if there are no params
    query: definition.query ?? (Nothing as unknown as Q),
    body: definition.body ?? (Nothing as unknown as B),
  }
}

/** Fields of an object without the index signature that is inferred for an empty schema. */
type Fields<T> = { [K in keyof T as string extends K ? never : K]: T[K] }

/** Input for callers: params, query and body merged into one object. Their names never collide. */
export type Input<R extends Route> = Fields<z.input<R['params']>> &
  Fields<z.input<R['query']>> &
  Fields<z.input<R['body']>>
/** Parsed request of a handler. */
export type Parsed<R extends Route> = {
  params: z.output<R['params']>
  query: z.output<R['query']>
  body: z.output<R['body']>
}
/** Parsed response of a route. */
export type Output<R extends Route> = z.output<R['response']>
/** Return value of a handler before the response schema is applied. */
export type Answer<R extends Route> = z.input<R['response']>

/** Splits a flat input into path and body. The query contains only the fields that are present. */
export function buildRequest<R extends Route>(route: R, input: Input<R>): { path: string; body: string | undefined } {
  const fields = input as Record<string, unknown> // Input<R> is an intersection of objects
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(fields[name])))
  const query = Object.keys(route.query.shape)
    .filter((name) => fields[name] !== undefined)
    .map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(String(fields[name]))}`)
    .join('&')
  const body = Object.fromEntries(
    listBodyNames(route, fields)
      .filter((name) => fields[name] !== undefined)
      .map((name) => [name, fields[name]]),
  )
  return {
    path: query === '' ? path : `${path}?${query}`,
    body: route.hasBody ? JSON.stringify(body) : undefined,
  }
}

/** Lists the fields of the body. A loose body includes fields that are not in its schema. */
function listBodyNames({ params, query, body }: Route, input: Record<string, unknown>): string[] {
  if (body.def.catchall === undefined) return Object.keys(body.shape)
  return Object.keys(input).filter((name) => !(name in params.shape) && !(name in query.shape))
}

/** Boolean in a query: `true`, `1`, `false`, `0`. */
export const QueryFlag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .or(z.boolean())
  .transform((value) => value === true || value === 'true' || value === '1')
