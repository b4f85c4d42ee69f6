import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createErrorHeaders } from '#platform/http/failures.ts'
import type { AppError } from '#shared/appError.ts'

/** The only path below a port's URL that Steward handles itself. */
export const openPath = '/.steward/open'

const pageHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Explains why the port cannot be reached, with a page for browsers and JSON for other clients. */
export function sendPreviewError(request: IncomingMessage, response: ServerResponse, failure: AppError): void {
  const wantsPage = (request.headers.accept ?? '').includes('text/html')
  const body = wantsPage ? renderErrorPage(failure) : JSON.stringify(failure.toBody())
  const headers: OutgoingHttpHeaders = {
    ...pageHeaders,
    'content-type': wantsPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'content-length': Buffer.byteLength(body),
    ...createErrorHeaders(failure),
  }
  response.writeHead(failure.status, headers)
  response.end(body)
}

/**
 * Serves a page that exchanges the token in the URL fragment, which no server or log receives, for a cookie of this
 * host. The page does not validate the token: the cookie is checked with each request.
 */
export async function sendOpenPage(
  request: IncomingMessage,
  response: ServerResponse,
  formatCookie: (token: string) => Promise<string>,
): Promise<void> {
  const token = String(request.headers['x-steward-open'] ?? '')
  if (request.method === 'POST' && /^spt_[A-Za-z0-9_-]{43}$/.test(token)) {
    const cookie = await formatCookie(token)
    response.writeHead(200, { ...pageHeaders, 'set-cookie': cookie, 'content-type': 'application/json' })
    response.end('{"success":true}')
    return
  }
  const { 'x-frame-options': _, ...headers } = pageHeaders
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/html; charset=utf-8',
    // Any page may frame it, because it shows nothing and does nothing without a token.
    'content-security-policy': "default-src 'none'; script-src 'unsafe-inline'; connect-src 'self'",
  })
  response.end(openPage)
}

const openPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Steward</title></head>
<body><p>Opening…</p>
<script>
const given = new URLSearchParams(location.hash.slice(1))
history.replaceState(null, '', location.pathname)
const headers = { 'x-steward-open': given.get('token') ?? '' }
const path = '/' + (given.get('to') ?? '').replace(/^\\//, '')
fetch(location.pathname, { method: 'POST', headers }).then(() => location.replace(location.origin + path))
</script></body>
</html>
`

function renderErrorPage({ message, hint, status }: AppError): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(message)}</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 34rem; padding: 0 1rem; color-scheme: light dark }
h1 { font-size: 1.25rem } p { opacity: 0.75 }</style></head>
<body><h1>${escapeHtml(message)}</h1><p>${escapeHtml(hint)}</p><p>Steward, ${status}</p></body>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
