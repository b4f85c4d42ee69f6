import { type App, type Session, shell, type WebContents } from 'electron'

/** The one permission that pages have: to put text that a person selected onto the clipboard. */
const granted = 'clipboard-sanitized-write'

/** Every other permission, and every device, is refused, whoever asks. */
export function limitPermissions(session: Session, origin: string): void {
  const isOwn = (url: string | undefined) => originOf(url) === origin
  session.setPermissionRequestHandler((_contents, permission, answer, details) =>
    answer(permission === granted && isOwn(details.requestingUrl)),
  )
  session.setPermissionCheckHandler(
    (_contents, permission, requestingOrigin) => permission === granted && isOwn(requestingOrigin),
  )
  session.setDevicePermissionHandler(() => false)
}

/** Whatever web contents come to be: they stay on the local API's pages, and open neither windows nor webviews. */
export function limitContents(app: App, origin: string): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(({ url }) => {
      openOutside(url, origin)
      return { action: 'deny' }
    })
    contents.on('will-attach-webview', (event) => event.preventDefault())
    stayInside(contents, origin)
  })
}

function stayInside(contents: WebContents, origin: string): void {
  contents.on('will-navigate', (event) => {
    if (originOf(event.url) === origin) return
    event.preventDefault()
    openOutside(event.url, origin)
  })
  contents.on('will-redirect', (event) => {
    const allowed = event.isMainFrame ? originOf(event.url) === origin : isPreview(event.url)
    if (!allowed) event.preventDefault()
  })
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame && !isPreview(event.url)) event.preventDefault()
  })
}

/** An exposed port of a sandbox, which is an origin of its own; the page's security policy names the very port. */
function isPreview(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && hostname.endsWith('.localhost')
}

/** Links lead to the person's browser, over https; our own pages (the API's documents) and exposed ports too, as they are. */
function openOutside(url: string, origin: string): void {
  const own = originOf(url) === origin
  if (!own && !isPreview(url) && !url.startsWith('https://')) return
  // The address is one that the page named: of secrets it holds none but the token of one exposed port.
  shell.openExternal(new URL(url).href).catch(() => {}) // no browser: there is nobody to tell
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined
}
