import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/**
 * The cookie that opens a private port in a browser. Previews below one `sandbox_host` are one site for browsers, so
 * `SameSite` does not stop pages of other sandboxes from sending it. Only headers that name the origin do.
 */
export type PreviewCookies = {
  /** Returns `Set-Cookie` for the requested host only. */
  format(token: string): string
  /** Returns cookie values that may open a port for this request. Empty for cross-origin requests. */
  read(request: Pick<IncomingMessage, 'headers' | 'method'>): readonly string[]
}

const plainName = 'steward_port'
/** Cannot be set by other hosts of the site: https://www.rfc-editor.org/rfc/rfc6265bis#section-4.1.3.2 */
const hostName = `__Host-${plainName}`
/** Pages of other sandboxes can add cookies with the plain name, which are sent before the valid one. */
const maxCandidates = 50

export function createPreviewCookies(options: { scheme: 'http' | 'https'; behindProxy: boolean }): PreviewCookies {
  const isSecure = options.scheme === 'https' || options.behindProxy
  const name = isSecure ? hostName : plainName
  return {
    format: (token) => `${name}=${token}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    read(request) {
      if (!isOfOwnOrigin(request, isSecure ? 'https' : 'http')) return []
      return cookiesIn(request.headers)
        .filter((cookie) => cookie.startsWith(`${name}=`))
        .map((cookie) => cookie.slice(name.length + 1))
        .slice(0, maxCandidates)
    },
  }
}

/** Whether a cookie is one of Steward's, under any of its names. */
export function isPreviewCookie(cookie: string): boolean {
  return cookie.startsWith(`${plainName}=`) || cookie.startsWith(`${hostName}=`)
}

/**
 * Whether the port's own page sent the request, or the user opened its address. WebSockets and browsers without
 * `Sec-Fetch-Site` are checked by `Origin`, which only reads may lack.
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function isOfOwnOrigin({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>, scheme: string): boolean {
  const { origin, host, upgrade } = headers
  const isOwnOrigin = origin?.toLowerCase() === `${scheme}://${host?.toLowerCase()}`
  if (upgrade !== undefined) return isOwnOrigin
  const site = headers['sec-fetch-site']
  const isReading = method === 'GET' || method === 'HEAD'
  if (site === undefined) return origin === undefined ? isReading : isOwnOrigin
  if (site === 'same-origin' || site === 'none') return true
  const isTopLevel = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return isTopLevel && method === 'GET'
}

function cookiesIn({ cookie = '' }: IncomingHttpHeaders): string[] {
  return cookie.split(';').map((part) => part.trim())
}
