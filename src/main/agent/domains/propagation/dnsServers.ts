import { isIP } from 'node:net'
import { type ListenAddress, parseListen } from '#platform/listenAddress.ts'
import { isPublicAddress } from '#platform/publicAddress.ts'
import type { PropagationServer } from '#shared/contract/localDomains.ts'
import { askDns, DnsFault } from './dnsQuestion.ts'

/** A server that can be asked, and how its address is found. */
export type DnsServer = PropagationServer & { address(signal: AbortSignal): Promise<ListenAddress> }

const dnsPort = 53
/** Of one domain, asked by themselves. */
const mostNameservers = 4

/**
 * Those of the domain first: they have the zone itself.
 * @param nameservers of the domain, as its registry tells them
 * @param testServer `HOST:PORT` of a test registry, whose nameservers exist nowhere
 * @param resolvers addresses of the configuration
 */
export function dnsServers(given: {
  nameservers: readonly string[]
  testServer: string | undefined
  resolvers: readonly string[]
}): DnsServer[] {
  const resolvers = given.resolvers.flatMap(known)
  const finder = resolvers[0]
  const test = given.testServer === undefined ? [] : known(given.testServer)
  const own = test.length > 0 ? test : given.nameservers.slice(0, mostNameservers).map((name) => named(name, finder))
  return [
    ...own.map((it): DnsServer => ({ ...it, kind: 'authoritative' })),
    ...resolvers.filter(({ id }) => !own.some((it) => it.id === id)),
  ]
}

/** Named by the person or the own service: it may stand anywhere. */
function known(text: string): DnsServer[] {
  const at = isIP(text) === 0 ? parseListen(text) : { host: text, port: dnsPort }
  return at ? [{ id: text, name: text, kind: 'resolver', address: async () => at }] : []
}

/** Named by whoever has the domain: it is asked only where everybody could. */
function named(name: string, finder: DnsServer | undefined): DnsServer {
  return {
    ...{ id: name, name, kind: 'authoritative' },
    async address(signal) {
      if (!finder) throw new DnsFault('No resolver is configured that could find it.')
      const found = await addressesOf(name, await finder.address(signal), signal)
      if (found.length === 0) throw new DnsFault('It has no address.')
      const host = found.find(isPublicAddress)
      if (host === undefined) throw new DnsFault('Its address is a private one, which is not asked.')
      return { host, port: dnsPort }
    },
  }
}

async function addressesOf(name: string, finder: ListenAddress, signal: AbortSignal): Promise<string[]> {
  for (const type of ['A', 'AAAA'] as const) {
    const { answers } = await askDns(finder, { name, type }, signal)
    const found = answers.flatMap((it) => (it.type === type ? [it.data] : []))
    if (found.length > 0) return found
  }
  return []
}
