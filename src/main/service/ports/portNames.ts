import type { PortRecord } from './portRepository.ts'

/** Host names of exposed ports. They never equal a name of the service itself. */
export type PortNames = {
  /**
   * Returns the label before the common suffix in a Host header.
   * @returns undefined if the header names the service or an unknown host
   */
  findLabel(host: string | undefined): Promise<string | undefined>
  getUrl(record: PortRecord): string
  /** Whether a name belongs to the service, or is below the suffix of its ports. */
  isOwn(name: string): boolean
}

type Options = {
  /** Suffix of public port URLs, which use TLS. Without it, URLs are below `localhost`. */
  sandboxHost: string | undefined
  /** Returns the URL of a name below `localhost`, with the service's port. Never throws. */
  getLocalUrl: (hostName: string) => string
  /** Names of the service itself, even if they end with the suffix of ports. */
  ownNames: readonly string[]
  /** Whether a custom domain points to a port here. */
  isDomain: (name: string) => Promise<boolean>
}

/** Prefix of a label that is a whole custom domain. A host name cannot contain it. */
const domainMark = 'domain:'

/**
 * Browsers resolve every name below `localhost` to the loopback address:
 * https://www.rfc-editor.org/rfc/rfc6761#section-6.3
 */
const localSuffix = '.localhost'

export function createPortNames({ sandboxHost, getLocalUrl: localUrlOf, ownNames, isDomain }: Options): PortNames {
  const reservedNames = new Set(ownNames.map((name) => name.toLowerCase()))
  // Longest first, because the configured host may itself be below `localhost`.
  const suffixes = [localSuffix, ...(sandboxHost === undefined ? [] : [`.${sandboxHost.toLowerCase()}`])].toSorted(
    (a, b) => b.length - a.length,
  )
  const findSuffix = (name: string): string | undefined => suffixes.find((it) => name.endsWith(it))
  return {
    async findLabel(host) {
      const name = host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
      if (name === undefined || reservedNames.has(name) || name === sandboxHost?.toLowerCase()) return undefined
      const suffix = findSuffix(name)
      if (suffix !== undefined) return name.slice(0, -suffix.length)
      return (await isDomain(name)) ? `${domainMark}${name}` : undefined
    },
    isOwn: (name) =>
      reservedNames.has(name) || name === 'localhost' || name === sandboxHost || findSuffix(name) !== undefined,
    getUrl({ sandboxId, port, subdomain }) {
      const label = subdomain ?? `${port}-${sandboxId}`
      if (sandboxHost !== undefined) return `https://${label}.${sandboxHost}`
      return localUrlOf(`${label}${localSuffix}`)
    },
  }
}

/** @returns the custom domain of a label, or undefined for other labels */
export function toDomain(label: string): string | undefined {
  return label.startsWith(domainMark) ? label.slice(domainMark.length) : undefined
}

/** Parses `{port}-{sandbox_id}`. */
export function parseLabel(label: string): { port: number; sandboxId: string } | undefined {
  const [, port, sandboxId] = /^([1-9]\d{0,4})-([0-9a-f]{32})$/.exec(label) ?? []
  return port === undefined || sandboxId === undefined ? undefined : { port: Number(port), sandboxId }
}
