import { type App, type Session, shell, type WebContents } from 'electron'
import { securePromptHostName, securePromptPath } from '#shared/contract/wallet.ts'

/** Permissions granted to pages: writing text to the clipboard, and notifications if the user enabled them. */
const grantedPermissions = ['clipboard-sanitized-write', 'notifications']

/** Denies all other permissions and all devices to all origins. */
export function restrictPermissions(session: Session, origin: string): void {
  const isOwn = (url: string | undefined) => toOrigin(url) === origin
  session.setPermissionRequestHandler((_contents, permission, answer, details) =>
    answer(grantedPermissions.includes(permission) && isOwn(details.requestingUrl)),
  )
  session.setPermissionCheckHandler(
    (_contents, permission, requestingOrigin) => grantedPermissions.includes(permission) && isOwn(requestingOrigin),
  )
  session.setDevicePermissionHandler(() => false)
}

/** Restricts all web contents to pages of the local API, and forbids new windows and webviews. */
export function restrictWebContents(app: App, origin: string): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(({ url }) => {
      openOutside(url, origin)
      return { action: 'deny' }
    })
    contents.on('will-attach-webview', (event) => event.preventDefault())
    restrictNavigation(contents, origin)
  })
}

function restrictNavigation(contents: WebContents, origin: string): void {
  contents.on('will-navigate', (event) => {
    if (toOrigin(event.url) === origin) return
    event.preventDefault()
    openOutside(event.url, origin)
  })
  contents.on('will-redirect', (event) => {
    const allowed = event.isMainFrame ? toOrigin(event.url) === origin : isPreview(event.url)
    if (!allowed) event.preventDefault()
  })
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame && !isPreview(event.url) && !isSecurePrompt(event.url, origin)) event.preventDefault()
  })
}

/**
 * Whether the URL is an exposed port of a sandbox, which has a separate origin. The page's security policy contains
 * that port.
 */
function isPreview(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && hostname.endsWith('.localhost') && hostname !== securePromptHostName
}

/**
 * Whether the URL is a secure prompt of this Steward instance, on which the user enters or views a secret of the
 * wallet. Allowed only in a frame.
 */
function isSecurePrompt(url: string, origin: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, port, pathname } = new URL(url)
  const isHere = protocol === 'http:' && hostname === securePromptHostName && port === new URL(origin).port
  return isHere && pathname.startsWith(`${securePromptPath}/`)
}

/**
 * Opens web and mail addresses, our own pages (the API's documents) and exposed ports in the user's default programs.
 */
function openOutside(url: string, origin: string): void {
  if (toOrigin(url) !== origin && !isExternal(url)) return
  // The page chose the URL. The only secret that it may contain is the token of an exposed port.
  shell.openExternal(new URL(url).href).catch(() => {}) // no browser is available
}

/**
 * Whether the URL may open in the browser. On loopback only exposed ports are allowed, because output of a sandbox may
 * contain any URL.
 */
function isExternal(url: string): boolean {
  if (!URL.canParse(url)) return false
  if (isPreview(url)) return true
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' || protocol === 'https:') return !isLoopbackHost(hostname)
  return protocol === 'mailto:'
}

/** @param hostname as normalized by `URL`: lower case, IPv4 with four decimal parts, IPv6 shortened and hexadecimal */
function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/\.+$/, '')
  if (host === '' || host === 'localhost' || host.endsWith('.localhost')) return true
  // ::, ::1, and 127.0.0.0/8 and 0.0.0.0 within ::/96 and ::ffff:0:0/96
  if (/^\[::1?\]$|^\[::(ffff:)?(7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)\]$/.test(host)) return true
  return /^127(\.\d{1,3}){3}$|^0\.0\.0\.0$/.test(host)
}

function toOrigin(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined
}
