import { z } from 'zod'

/** Error formats: Steward's own, and those of the model dialects. */
export type ErrorDialect = 'default' | 'openai' | 'anthropic'

/** HTTP method of a route. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Required credential. Service: `none`; `key`, any credential; `account`, a sign-in or the key of the owner's file, but
 * no API key of a program; `owner`; `person`, only the session of the user at this computer. Agent (`/local/…`): `person`,
 * and `client`, which also accepts API keys of the account of the agent.
 */
export type RouteAuth = 'none' | 'key' | 'account' | 'owner' | 'person' | 'client'

const Nothing = z.object({})

/**
 * One operation of the service: validation, typed client and OpenAPI are all made from it.
 * `path` names its parameters as `:name`; `params` has a schema for each.
 */
export type Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject = z.ZodObject,
  Response extends z.ZodType = z.ZodType,
> = {
  /** The operation's name in OpenAPI and in generated clients: `sandboxCreate`. */
  operation: string
  method: Method
  path: `/${string}`
  /** Other paths that answer alike. */
  aliases: readonly `/${string}`[]
  summary: string
  /** Behavior, limits and refusals that neither the summary nor the fields say, in Markdown. */
  description: string | undefined
  /** Typical request body. */
  example: Readonly<Record<string, unknown>> | undefined
  tag: string
  params: Params
  query: Query
  body: Body
  hasBody: boolean
  response: Response
  status: 200 | 201
  auth: RouteAuth
  /** Error statuses of this route, besides the common ones. */
  refusals: readonly number[]
  /** Format of its errors. */
  errors: ErrorDialect
  /** Paid for by x402: without a payment it answers 402. */
  sold: boolean
  /** Honours `Idempotency-Key`: everything that creates, executes, transfers or pays. */
  idempotent: boolean
  /** Largest request body in bytes. */
  maxBodyBytes: number
  /** Bodies that are no JSON. */
  raw: RawBodies | undefined
}

/** Binary bodies, which are streamed in both directions: no schema, never buffered whole. */
export type RawBodies = {
  /** Media type of the request's body; absent when it has none. */
  request?: string
  /** Media types and description of the response's body; absent for JSON. Errors are always JSON. */
  response?: { mediaTypes: readonly string[]; description: string }
  /** Headers of the request that mean something here. */
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
    params: definition.params ?? (Nothing as unknown as P), // no params given: P is `typeof Nothing`
    query: definition.query ?? (Nothing as unknown as Q),
    body: definition.body ?? (Nothing as unknown as B),
  }
}

/** The fields of an object without the index signature that an empty schema infers. */
type Fields<T> = { [K in keyof T as string extends K ? never : K]: T[K] }

/** Input of a caller: params, query and body in one flat object. Their names never collide. */
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
/** Return value of a handler, before the response schema is applied. */
export type Answer<R extends Route> = z.input<R['response']>

/** Splits a flat input into the request line and the body. The query keeps only what was given. */
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

/** A loose body takes what its schema does not name as well. */
function listBodyNames({ params, query, body }: Route, input: Record<string, unknown>): string[] {
  if (body.def.catchall === undefined) return Object.keys(body.shape)
  return Object.keys(input).filter((name) => !(name in params.shape) && !(name in query.shape))
}

/** A query flag: `true`, `1`, `false`, `0`. */
export const QueryFlag = z
  .enum(['true', 'false', '1', '0'], 'must be true or false')
  .or(z.boolean())
  .transform((value) => value === true || value === 'true' || value === '1')
