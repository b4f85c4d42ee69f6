import { z } from 'zod'
import { AppError } from '../appError.ts'
import { unknownIds } from '../ids.ts'
import { describeIssue } from './describeIssue.ts'
import type { Parsed, Route } from './route.ts'

type RawRequest = { params: unknown; query: unknown; body: unknown }

/**
 * @throws AppError `request/invalid` with the first invalid field, `request/malformed` for a body that is not an
 * object; also those of `parseParams`
 */
export function parseRequest(route: Route, raw: RawRequest): Parsed<Route> {
  return {
    params: parseParams(route.params, raw.params),
    query: parseFields(route.query, raw.query),
    body: parseFields(route.body, route.hasBody ? requireBodyObject(raw.body) : {}),
  }
}

/** @throws AppError of a missing resource for a malformed id, otherwise `request/invalid` */
export function parseParams<S extends z.ZodObject>(schema: S, input: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(input)
  if (success) return data
  const [issue] = error.issues
  const name = String(issue?.path[0])
  const field = schema.shape[name]
  const unknown = field instanceof z.ZodType ? unknownIds.get(field) : undefined
  if (unknown) throw new AppError(unknown.code, unknown.message(formatId(input, name)))
  throw createInvalidError(issue, input)
}

/** Parses fields and rejects invalid ones. @throws AppError `request/invalid` */
export function parseFields<S extends z.ZodObject>(schema: S, input: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(input)
  if (success) return data
  throw createInvalidError(error.issues[0], input)
}

function createInvalidError(issue: z.core.$ZodIssue | undefined, input: unknown): AppError {
  return new AppError('request/invalid', issue ? describeIssue(issue, input) : 'The request is not valid.')
}

function formatId(input: unknown, name: string): string {
  const id = typeof input === 'object' && input !== null ? Reflect.get(input, name) : undefined
  return String(id).slice(0, 64)
}

/** Treats a missing body as an empty object, so that the error names the first missing field. */
function requireBodyObject(body: unknown): unknown {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new AppError('request/malformed', 'The body must be a JSON object.')
}
