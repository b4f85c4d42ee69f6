export type LinkTarget = { kind: 'address'; href: string } | SandboxPlace

/** Target inside the sandbox that printed the link. */
export type SandboxPlace =
  /** `path` starts with `/` and includes query and fragment. */
  | { kind: 'port'; port: number; path: string }
  /** Lines and columns are 1-based. */
  | { kind: 'file'; path: string; line?: number; column?: number }

/**
 * Parses an address and normalizes its spelling as browsers do, which exposes homoglyphs and control characters.
 * Loopback names refer to the sandbox, never to the user's computer, and `file:` to a file in it. Other schemes, such
 * as `javascript:`, are rejected.
 * @param previewPort port of the service, on which names under `localhost` are exposed ports
 */
export function parseLinkTarget(address: string, previewPort?: string): LinkTarget | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const { protocol, href } = url
  if (protocol === 'mailto:') return { kind: 'address', href }
  if (protocol === 'file:') return toFileTarget(url)
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  if (!isLocalHost(url.hostname) || isPreview(url, previewPort)) return { kind: 'address', href }
  const defaultPort = protocol === 'http:' ? 80 : 443
  return { kind: 'port', port: Number(url.port || defaultPort), path: url.pathname + url.search + url.hash }
}

/**
 * Whether a host refers to the local computer: `localhost` and all names under it
 * (https://www.rfc-editor.org/rfc/rfc6761#section-6.3), the names that Linux distributions add to `/etc/hosts`,
 * loopback addresses, and unspecified addresses.
 */
function isLocalHost(hostname: string): boolean {
  return loopbackNames.test(hostname) || loopbackAddresses.test(hostname)
}

const loopbackNames =
  /^((.+\.)?localhost|(.+\.)?localhost[46]?\.localdomain[46]?|localhost[46]|ip6-(localhost|loopback))\.?$/
const loopbackAddresses = /^(127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::(ffff:)?(7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)\])$/

function isPreview({ hostname, port }: URL, previewPort: string | undefined): boolean {
  return previewPort !== undefined && port === previewPort && /^[^.].*\.localhost$/.test(hostname)
}

/** Whether an address is on the user's local network, judging by its text alone. */
export function isOnLocalNetwork(href: string): boolean {
  const hostname = URL.parse(href)?.hostname.replace(/\.$/, '') ?? ''
  return (
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)[\d.]+$/.test(
      hostname,
    ) ||
    /^\[(f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|::ffff:(a[0-9a-f]{2}|c0a8|ac1[0-9a-f]|a9fe)):/.test(hostname) ||
    /^[^.:]+$|\.(local|lan|internal|intranet|home|localdomain|home\.arpa)$/.test(hostname)
  )
}

/**
 * Finds addresses without a scheme, as printed by servers: `localhost:8000`. `start` and `end` are offsets in the line.
 */
export function findPorts(text: string): { start: number; end: number; target: LinkTarget }[] {
  const named =
    /(?<![^\s"'`<([{])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{1,5}(?:\/[^\s"'`<>)\]}]{0,1024})?(?![\w:])/g
  return [...text.matchAll(named)].flatMap(({ index: start, 0: match }) => {
    const target = parseLinkTarget(`http://${match}`)
    return target ? [{ start, end: start + match.length, target }] : []
  })
}

/** Parses the format of `ls --hyperlink`, in which the host name precedes the path. */
function toFileTarget({ pathname }: URL): LinkTarget | undefined {
  try {
    const path = decodeURIComponent(pathname)
    return hasControlCharacter(path) ? undefined : { kind: 'file', path }
  } catch {
    return undefined
  }
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
