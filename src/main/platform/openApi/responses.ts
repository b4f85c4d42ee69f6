import { createErrorBody } from '#shared/contract/errorBodies.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import type { Route } from '#shared/contract/route.ts'
import type { JsonSchema } from './schemaComponents.ts'

const meanings: Readonly<Record<number, string>> = {
  400: 'A field or the body is invalid.',
  401: 'The credential is missing, invalid or expired.',
  402: 'Insufficient credits.',
  403: 'Not allowed with this key, host or origin.',
  404: 'Not found, or not accessible with this credential.',
  409: 'The current state does not allow this, or the Idempotency-Key was used for another request.',
  413: 'Too large.',
  415: 'Unsupported media type.',
  416: 'The range is not satisfiable.',
  423: 'A required resource is locked.',
  429: 'Too many requests. Wait for the time in `Retry-After`.',
  500: 'Something unexpected went wrong.',
  502: 'The upstream server failed.',
  503: 'The sandbox host or another dependency is not available.',
  504: 'The upstream server did not respond in time.',
  507: 'No space left.',
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
