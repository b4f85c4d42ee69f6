import { createErrorBody } from '#shared/contract/errorBodies.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import type { Route } from '#shared/contract/route.ts'
import type { JsonSchema } from './schemaComponents.ts'

const meanings: Readonly<Record<number, string>> = {
  400: 'A field or the body is not valid.',
  401: 'The credential is missing, wrong or over.',
  402: 'The credits do not cover it.',
  403: 'Not allowed with this key, host or origin.',
  404: 'Not there, or not yours.',
  409: 'Its present state does not allow this, or the Idempotency-Key was used otherwise.',
  413: 'Too large.',
  415: 'The body is of another kind.',
  416: 'There is nothing in this range.',
  423: 'What it needs is locked.',
  429: 'Too many; wait as long as `Retry-After` says.',
  500: 'Something unexpected went wrong.',
  502: 'What it was handed on to failed.',
  503: 'The sandbox host or what it needs is not available.',
  504: 'What it was handed on to did not answer in time.',
  507: 'There is no room left.',
}

export function listErrorStatuses(route: Route): number[] {
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

/** Responses that refuse an upgrade, in Steward's own error format. */
const plainErrors = { errors: 'default', sold: false } as const

export function createErrorResponses(
  statuses: readonly number[],
  route: Pick<Route, 'errors' | 'sold'> = plainErrors,
): Record<string, JsonSchema> {
  return Object.fromEntries(statuses.map((status) => [status, createErrorResponse(status, route)]))
}

function createErrorResponse(status: number, route: Pick<Route, 'errors' | 'sold'>): JsonSchema {
  const isOffer = route.sold && status === 402
  const headers = {
    ...(status === 429 && {
      'Retry-After': { description: 'Number of seconds to wait before the next request.', schema: { type: 'integer' } },
    }),
    ...(isOffer && createTextHeaders(paymentHeaders.required, 'Payment requirements: base64 of JSON.')),
  }
  return {
    description: isOffer ? 'Payment required (x402).' : (meanings[status] ?? 'Refused.'),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${createErrorBody(route, status)}` } } },
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** Creates the headers of both x402 versions. */
export function createTextHeaders(
  { v1, v2 }: { v1: string; v2: string },
  description: string,
): Record<string, JsonSchema> {
  const header = { description, schema: { type: 'string' } }
  return { [v2.toUpperCase()]: header, [v1.toUpperCase()]: header }
}
