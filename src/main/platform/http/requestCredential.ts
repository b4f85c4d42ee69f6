import type { IncomingHttpHeaders } from 'node:http'

/**
 * Reads the credential of a request: `Authorization: Bearer <key>`, `Authorization: <key>` or `x-api-key: <key>`.
 * @returns an empty string if a header is present but empty, undefined if there is no header
 */
export function readCredential(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers
  if (authorization !== undefined) return authorization.replace(/^bearer(\s+|$)/i, '').trim()
  const apiKey = headers['x-api-key']
  return typeof apiKey === 'string' ? apiKey.trim() : undefined
}
