import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/**
 * Cookie that opens a private port in a browser. Browsers treat all previews below one `sandbox_host` as the same site,
 * so `SameSite` does not stop pages of other sandboxes from sending it. Only headers that name the origin do.
 */
export type PreviewCookies = {
  /** Returns `Set-Cookie` for the requested host only. */
  format(token: string): string
  /** Returns `Set-Cookie` for a frame. Browsers send the cookie back only below the page that contains the frame. */
  formatFrame(secret: string): string
  /** Returns cookie values that may open a port for this request. Empty for cross-origin requests. */
  read(request: Pick<IncomingMessage, 'headers' | 'method'>): readonly string[]
  /** Returns the cookie values of a frame. Empty also for navigations from other origins. */
  readFrame(request: Pick<IncomingMessage, 'headers'>): readonly string[]
}

const plainName = 'steward_port'
/** Other hosts of the site cannot set such a cookie: https://www.rfc-editor.org/rfc/rfc6265bis#section-4.1.3.2 */
const hostName = `__Host-${plainName}`
const frameName = 'steward_frame'
/** Pages of other sandboxes can add cookies with the plain name, and browsers may send these before the valid one. */
const maxCandidates = 50

export function createPreviewCookies(options: { scheme: 'http' | 'https'; behindProxy: boolean }): PreviewCookies {
  const isSecure = options.scheme === 'https' || options.behindProxy
  const name = isSecure ? hostName : plainName
  const scheme = isSecure ? 'https' : 'http'
  return {
    format: (token) => `${name}=${token}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
    // Browsers accept `Secure` from `http://*.localhost`, because its requests do not leave the computer.
    formatFrame: (secret) => `${frameName}=${secret}; Path=/; HttpOnly; SameSite=None; Secure; Partitioned`,
    read: (request) => (isOfOwnOrigin(request, scheme) ? listValues(name, request.headers) : []),
    readFrame: ({ headers }) => (isOfOwnPage(headers, scheme) ? listValues(frameName, headers) : []),
  }
}

/** Whether a cookie belongs to Steward, under any of its names. */
export function isPreviewCookie(cookie: string): boolean {
  return [plainName, hostName, frameName].some((name) => cookie.startsWith(`${name}=`))
}

/**
 * Whether the port's own page sent the request, or the user opened its URL. WebSockets and browsers without
 * `Sec-Fetch-Site` are checked by `Origin`, which may be absent only for reads.
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function isOfOwnOrigin({ headers, method }: Pick<IncomingMessage, 'headers' | 'method'>, scheme: string): boolean {
  const { origin, upgrade } = headers
  const isOwnOrigin = hasOwnOrigin(headers, scheme)
  if (upgrade !== undefined) return isOwnOrigin
  const site = headers['sec-fetch-site']
  const isReading = method === 'GET' || method === 'HEAD'
  if (site === undefined) return origin === undefined ? isReading : isOwnOrigin
  if (site === 'same-origin' || site === 'none') return true
  const isTopLevel = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return isTopLevel && method === 'GET'
}

/** Whether the port's own page sent the request, according to the headers of the browser. */
function isOfOwnPage(headers: IncomingHttpHeaders, scheme: string): boolean {
  return headers.upgrade === undefined ? headers['sec-fetch-site'] === 'same-origin' : hasOwnOrigin(headers, scheme)
}

function hasOwnOrigin({ origin, host }: IncomingHttpHeaders, scheme: string): boolean {
  return origin?.toLowerCase() === `${scheme}://${host?.toLowerCase()}`
}

function listValues(name: string, headers: IncomingHttpHeaders): string[] {
  return parseCookies(headers)
    .filter((cookie) => cookie.startsWith(`${name}=`))
    .map((cookie) => cookie.slice(name.length + 1))
    .slice(0, maxCandidates)
}

function parseCookies({ cookie = '' }: IncomingHttpHeaders): string[] {
  return cookie.split(';').map((part) => part.trim())
}
