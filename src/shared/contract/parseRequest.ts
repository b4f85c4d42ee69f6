import type { z } from 'zod'
import { AppError } from '../appError.ts'
import { describeIssue } from './describeIssue.ts'
import type { Parsed, Route } from './route.ts'

type RawRequest = { params: unknown; query: unknown; body: unknown }

/** @throws AppError `request/invalid` naming the first field that is wrong, `request/malformed` for a body of another kind. */
export function parseRequest(route: Route, raw: RawRequest): Parsed<Route> {
  return {
    params: parseFields(route.params, raw.params),
    query: parseFields(route.query, raw.query),
    body: parseFields(route.body, route.hasBody ? bodyObject(raw.body) : {}),
  }
}

export function parseFields<S extends z.ZodObject>(schema: S, given: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const [issue] = error.issues
  throw new AppError('request/invalid', issue ? describeIssue(issue, given) : 'The request is not valid.')
}

/** No body at all counts as an empty object, so that the first field missing is named. */
function bodyObject(body: unknown): unknown {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new AppError('request/malformed', 'The body must be a JSON object.')
}
