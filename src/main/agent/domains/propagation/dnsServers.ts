import { isIP } from 'node:net'
import { type ListenAddress, parseListen } from '#platform/net/listenAddress.ts'
import { isPublicAddress } from '#platform/net/publicAddress.ts'
import type { PropagationServer } from '#shared/contract/localDomains.ts'
import { DnsError, queryDns } from './dnsClient.ts'

/** DNS server with a lookup of its address. */
export type DnsServer = PropagationServer & { address(signal: AbortSignal): Promise<ListenAddress> }

const dnsPort = 53
/** Maximum number of a domain's name servers that are queried directly. */
const maxNameservers = 4

/**
 * Selects DNS servers. The domain's own servers come first because they are authoritative.
 * @param nameservers name servers of the domain according to its registry
 * @param testServer `HOST:PORT` of a test registry, whose name servers do not exist
 * @param resolvers addresses from the configuration
 */
export function createDnsServers(options: {
  nameservers: readonly string[]
  testServer: string | undefined
  resolvers: readonly string[]
}): DnsServer[] {
  const resolvers = options.resolvers.flatMap(parseServer)
  const finder = resolvers[0]
  const test = options.testServer === undefined ? [] : parseServer(options.testServer)
  const servers =
    test.length > 0 ? test : options.nameservers.slice(0, maxNameservers).map((name) => createNamedServer(name, finder))
  return [
    ...servers.map((it): DnsServer => ({ ...it, kind: 'authoritative' })),
    ...resolvers.filter(({ id }) => !servers.some((it) => it.id === id)),
  ]
}

/** Parses a server from the configuration or Steward's service. Any address is allowed. */
function parseServer(text: string): DnsServer[] {
  const address = isIP(text) === 0 ? parseListen(text) : { host: text, port: dnsPort }
  return address ? [{ id: text, name: text, kind: 'resolver', address: async () => address }] : []
}

/** Creates a server that the domain owner named. It is queried only at public addresses. */
function createNamedServer(name: string, finder: DnsServer | undefined): DnsServer {
  return {
    ...{ id: name, name, kind: 'authoritative' },
    async address(signal) {
      if (!finder) throw new DnsError('No resolver is configured that could find its address.')
      const addresses = await resolveAddresses(name, await finder.address(signal), signal)
      if (addresses.length === 0) throw new DnsError('The server has no address.')
      const host = addresses.find(isPublicAddress)
      if (host === undefined) throw new DnsError('The server has a private address, which Steward does not query.')
      return { host, port: dnsPort }
    },
  }
}

async function resolveAddresses(name: string, finder: ListenAddress, signal: AbortSignal): Promise<string[]> {
  for (const type of ['A', 'AAAA'] as const) {
    const { answers } = await queryDns(finder, { name, type }, signal)
    const addresses = answers.flatMap((answer) => (answer.type === type ? [answer.data] : []))
    if (addresses.length > 0) return addresses
  }
  return []
}
