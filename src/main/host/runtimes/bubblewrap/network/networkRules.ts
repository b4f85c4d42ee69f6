import type { NetworkInterfaceInfo } from 'node:os'
import type { Network } from '../../../../../shared/contract/sandboxes.ts'

/** The sandbox's own address, its gateway and the name server that it asks: those of QEMU's and slirp's user networks. */
export const sandboxAddresses = { own: '10.0.2.15', mask: '255.255.255.0', gateway: '10.0.2.2', names: '10.0.2.3' }

/**
 * What the internet does not route, or routes into somebody's own network.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16', // with the metadata, and so the credentials, of cloud machines
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Rules of nftables for the sandbox's own network namespace, set before it is connected; nothing inside may change
 * them. IPv6 is not connected: what a program sends that way is refused at once instead of waited for.
 *
 * @param own addresses of this machine: what listens on them may rely on a firewall that guards its network cards only
 */
export function networkRules(network: Exclude<Network, 'none'>, own: readonly string[]): string {
  const refused = network === 'internet' ? [...notPublic, ...own] : ['127.0.0.0/8']
  return `table inet steward {
  chain out {
    type filter hook output priority 0; policy accept;
    oifname "lo" accept
    meta nfproto ipv6 reject
    ip daddr ${sandboxAddresses.names} meta l4proto { tcp, udp } th dport 53 accept
    ${refused.map((range) => `ip daddr ${range} reject`).join('\n    ')}
  }
}
`
}

/** @param interfaces of `os.networkInterfaces()` */
export function ownAddresses(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): string[] {
  const all = Object.values(interfaces).flatMap((entries) => entries ?? [])
  return [
    ...new Set(all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address)),
  ]
}
