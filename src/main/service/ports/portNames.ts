import type { PortRecord } from './portRepository.ts'

/** Host names of exposed ports. None of them ever names the service itself. */
export type PortNames = {
  /** What stands before the common suffix in a Host header; undefined when it names the service or nobody here. */
  labelOf(host: string | undefined): string | undefined
  urlOf(record: PortRecord): string
  /** Whether a name is the service's own, or below the suffix of its ports. */
  isOwn(name: string): boolean
}

type Options = {
  /** Suffix of public addresses, behind TLS; without one they are below `localhost`. */
  sandboxHost: string | undefined
  /** Where the service itself listens; its port is part of addresses below `localhost`. */
  serviceUrl: () => string
  /** Names of the service itself, also when they end like those of ports. */
  ownNames: readonly string[]
  /** Whether a name of somebody's own leads to a port here. */
  isDomain: (name: string) => boolean
}

/** Before a whole domain, where else the part of a name before the common suffix stands; in no host name. */
const domainMark = 'domain:'

/** Browsers take every name below `localhost` for this machine: https://www.rfc-editor.org/rfc/rfc6761#section-6.3 */
const localSuffix = '.localhost'

export function portNames({ sandboxHost, serviceUrl, ownNames, isDomain }: Options): PortNames {
  const own = new Set(ownNames.map((name) => name.toLowerCase()))
  const suffixes = [localSuffix, ...(sandboxHost === undefined ? [] : [`.${sandboxHost.toLowerCase()}`])]
  const suffixOf = (name: string): string | undefined => suffixes.find((it) => name.endsWith(it))
  return {
    labelOf(host) {
      const name = host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
      if (name === undefined || own.has(name)) return undefined
      const suffix = suffixOf(name)
      if (suffix !== undefined) return name.slice(0, -suffix.length)
      return isDomain(name) ? `${domainMark}${name}` : undefined
    },
    isOwn: (name) => own.has(name) || name === 'localhost' || name === sandboxHost || suffixOf(name) !== undefined,
    urlOf({ sandboxId, port, subdomain }) {
      const label = subdomain ?? `${port}-${sandboxId}`
      if (sandboxHost !== undefined) return `https://${label}.${sandboxHost}`
      const { protocol, port: servicePort } = new URL(serviceUrl())
      return `${protocol}//${label}${localSuffix}${servicePort === '' ? '' : `:${servicePort}`}`
    },
  }
}

/** @returns the domain that a label stands for as a whole */
export function domainOf(label: string): string | undefined {
  return label.startsWith(domainMark) ? label.slice(domainMark.length) : undefined
}

/** `{port}-{sandbox_id}` */
export function parseLabel(label: string): { port: number; sandboxId: string } | undefined {
  const [, port, sandboxId] = /^([1-9]\d{0,4})-([0-9a-f]{32})$/.exec(label) ?? []
  return port === undefined || sandboxId === undefined ? undefined : { port: Number(port), sandboxId }
}
