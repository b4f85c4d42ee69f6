import type { Network } from '#shared/contract/sandboxes.ts'

/** The sandbox's own address, its gateway and the name server that it asks: those of QEMU's and slirp's user networks. */
export const sandboxAddresses = { sandbox: '10.0.2.15', mask: '255.255.255.0', gateway: '10.0.2.2', names: '10.0.2.3' }

/** The sandbox's network card, as pasta makes it. */
export const networkCard = 'eth0'

export type NetworkRules = {
  /** In force before the sandbox is connected. */
  rules: string
  /**
   * Rules for the network card, loaded once it exists. They filter everything that leaves the card, including frames from
   * packet sockets, which bypass `rules`. Require Linux 5.16.
   */
  frameRules: string
  /** Chains that refuse this computer's addresses, and their verdict; null if those are allowed. */
  ownRules: { rules: ChainVerdict; frames: ChainVerdict } | null
}
type ChainVerdict = readonly [chain: string, verdict: 'reject' | 'drop']

/**
 * Rules of nftables for the sandbox's own network namespace, which nothing inside may change. IPv6 is not connected: a
 * program that tries it is refused at once instead of waiting.
 *
 * @param closed networks that `internet` does not reach, such as `10.0.0.0/8`
 */
export function createNetworkRules(network: Exclude<Network, 'none'>, closed: readonly string[]): NetworkRules {
  const refused = network === 'internet' ? closed : ['127.0.0.0/8']
  const names = `ip daddr ${sandboxAddresses.names} meta l4proto { tcp, udp } th dport 53 accept`
  const refuse = (verdict: ChainVerdict[1]) => refused.map((range) => `ip daddr ${range} ${verdict}`)
  return {
    rules: formatTable('inet steward', 'type filter hook output priority 0; policy accept;', [
      'oifname "lo" accept',
      'meta nfproto ipv6 reject',
      names,
      'jump own',
      ...refuse('reject'),
    ]),
    frameRules: formatTable(
      'netdev steward',
      `type filter hook egress device "${networkCard}" priority 0; policy drop;`,
      [
        'ether type arp accept',
        'ether type != ip drop',
        `ip saddr != ${sandboxAddresses.sandbox} drop`,
        names,
        'jump own',
        ...refuse('drop'),
        'accept',
      ],
    ),
    ownRules:
      network === 'internet' ? { rules: ['inet steward own', 'reject'], frames: ['netdev steward own', 'drop'] } : null,
  }
}

function formatTable(name: string, hook: string, rules: readonly string[]): string {
  return `table ${name} {
  chain own {
  }
  chain out {
    ${[hook, ...rules].join('\n    ')}
  }
}
`
}
