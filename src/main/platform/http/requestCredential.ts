import type { IncomingHttpHeaders } from 'node:http'

/**
 * The credential of a request: `Authorization: Bearer <key>`, `Authorization: <key>` or `x-api-key: <key>`.
 * @returns '' when a header is there but empty, undefined when there is none.
 */
export function readCredential(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers
  if (authorization !== undefined) return authorization.replace(/^bearer(\s+|$)/i, '').trim()
  const apiKey = headers['x-api-key']
  return typeof apiKey === 'string' ? apiKey.trim() : undefined
}
