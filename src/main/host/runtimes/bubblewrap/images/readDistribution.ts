import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Distribution of the host that mmdebstrap can create. */
type DistributionName = {
  title: string
  suite: string
  /** Ids of os-release(5): the distribution itself and its parent distributions. */
  family: readonly string[]
}
export type Distribution = Pick<DistributionName, 'title' | 'suite'> & { sources: string }

/** @returns a sentence if images cannot be created from the distribution */
export async function readDistributionName(): Promise<DistributionName | string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const fields = parseOsRelease(text)
  const suite = fields.get('VERSION_CODENAME')
  const family = [fields.get('ID'), ...(fields.get('ID_LIKE') ?? '').split(' ')].filter((id) => id !== undefined)
  if (!suite || !family.includes('debian')) {
    return `Creating images requires Debian or a derivative. This computer runs ${fields.get('PRETTY_NAME') ?? 'another system'}.`
  }
  return { title: fields.get('PRETTY_NAME') ?? suite, suite, family }
}

/**
 * Reads the distribution with its package sources. Runs apt, which takes about one second of CPU time.
 * @returns a sentence if images cannot be created from the distribution
 */
export async function readDistribution(): Promise<Distribution | string> {
  const name = await readDistributionName()
  if (typeof name === 'string') return name
  const { title, suite, family } = name
  return { title, suite, sources: await readAptSources({ suite, addresses: await findArchiveAddresses(family) }) }
}

/** Criteria for sources of the distribution itself. Third-party lists, such as Docker's, use the same suite name. */
export type DistributionSource = {
  suite: string
  /** URLs without a trailing slash. Undefined if apt has not downloaded its lists yet. */
  addresses: ReadonlySet<string> | undefined
}

const requestTimeoutMs = 30_000

/** Returns the addresses of sources whose signed list has the distribution as its origin. */
async function findArchiveAddresses(family: readonly string[]): Promise<ReadonlySet<string> | undefined> {
  const format = ['indextargets', '--format', '$(ORIGIN)\t$(REPO_URI)']
  const listing = await promisify(execFile)('apt-get', format, { timeout: requestTimeoutMs }).catch(() => undefined)
  const rows = (listing?.stdout ?? '').split('\n').map((line) => line.split('\t'))
  const ownRows = rows.filter(([origin = '']) => family.includes(origin.toLowerCase()))
  return ownRows.length === 0 ? undefined : new Set(ownRows.map(([, address = '']) => stripTrailingSlash(address)))
}

const stripTrailingSlash = (address: string): string => address.replace(/\/+$/, '')

/** Reads the package sources of the host's distribution, without third-party sources. Empty if they are unknown. */
async function readAptSources(source: DistributionSource): Promise<string> {
  const parts = await readdir('/etc/apt/sources.list.d').catch(() => [])
  const files = ['/etc/apt/sources.list', ...parts.toSorted().map((name) => join('/etc/apt/sources.list.d', name))]
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(file, 'utf8').catch(() => '')] as const),
  )
  return texts
    .map(([file, text]) => (file.endsWith('.sources') ? selectStanzas(text, source) : selectLines(text, source)))
    .filter((text) => text !== '')
    .join('\n')
}

/** Parses the one-line format of sources.list(5). */
export function selectLines(text: string, source: DistributionSource): string {
  const own = text.split('\n').filter((line) => {
    const [type, address = '', name = ''] = line
      .replace(/\[[^\]]*\]/, '')
      .trim()
      .split(/\s+/)
    return type === 'deb' && isOfSuite(name, source.suite) && isOwn(address, source)
  })
  return own.map((line) => `${line.trim()}\n`).join('')
}

/** Parses the deb822 format of sources.list(5). */
export function selectStanzas(text: string, source: DistributionSource): string {
  const stanzas = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n\s*\n/)
  const own = stanzas.filter((stanza) => {
    const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'im').exec(stanza)?.[1]?.trim() ?? ''
    const suites = field('Suites').split(/\s+/)
    const addresses = field('URIs').split(/\s+/)
    const isBinary = /\bdeb\b/.test(field('Types')) && field('Enabled') !== 'no'
    return (
      isBinary && suites.every((name) => isOfSuite(name, source.suite)) && addresses.every((it) => isOwn(it, source))
    )
  })
  return own.map((stanza) => `${stanza.trim()}\n`).join('\n')
}

function isOwn(address: string, { addresses }: DistributionSource): boolean {
  return addresses === undefined || addresses.has(stripTrailingSlash(address))
}

/** Matches the suite itself and its variants: `bookworm` includes `bookworm-updates` and `bookworm-security`. */
function isOfSuite(name: string, suite: string): boolean {
  return name === suite || name.startsWith(`${suite}-`) || name.startsWith(`${suite}/`)
}

function parseOsRelease(text: string): Map<string, string> {
  const pairs = [...text.matchAll(/^(\w+)=(?:"([^"]*)"|(\S*))$/gm)]
  return new Map(pairs.map(([, key = '', quoted, plain]) => [key, quoted ?? plain ?? '']))
}
