/** What a link in a terminal leads to. */
export type LinkTarget = { kind: 'address'; href: string } | SandboxPlace

/** Inside the sandbox that printed it. */
export type SandboxPlace =
  /** `path` begins with `/` and has query and fragment. */
  | { kind: 'port'; port: number; path: string }
  /** Lines and columns begin at 1. */
  | { kind: 'file'; path: string; line?: number; column?: number }

/**
 * Where an address leads, as the browser will write it: other alphabets that look like Latin and control characters show.
 * `localhost` is the sandbox itself, never the machine of the person, and `file:` a file in it. A program in a sandbox must
 * not be able to offer `javascript:`, which leads nowhere.
 */
export function linkTarget(address: string): LinkTarget | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  const { protocol, href } = url
  if (protocol === 'mailto:') return { kind: 'address', href }
  if (protocol === 'file:') return fileTarget(url)
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  if (!isItself(url.hostname)) return { kind: 'address', href }
  const usual = protocol === 'http:' ? 80 : 443
  return { kind: 'port', port: Number(url.port || usual), path: url.pathname + url.search + url.hash }
}

/** What a server calls the machine it runs on: https://www.rfc-editor.org/rfc/rfc6761#section-6.3 and "all addresses". */
function isItself(hostname: string): boolean {
  return /^(localhost\.?|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/.test(hostname)
}

/** What is written without `http:`, as servers greet: `localhost:8000`. `start` and `end` are places in the line. */
export function namedPorts(text: string): { start: number; end: number; target: LinkTarget }[] {
  const named =
    /(?<![^\s"'`<([{])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d{1,5}(?:\/[^\s"'`<>)\]}]{0,1024})?(?![\w:])/g
  return [...text.matchAll(named)].flatMap(({ index: start, 0: found }) => {
    const target = linkTarget(`http://${found}`)
    return target ? [{ start, end: start + found.length, target }] : []
  })
}

/** As `ls --hyperlink` writes it, the name of the machine before the path. */
function fileTarget({ pathname }: URL): LinkTarget | undefined {
  try {
    return { kind: 'file', path: decodeURIComponent(pathname) }
  } catch {
    return undefined
  }
}
