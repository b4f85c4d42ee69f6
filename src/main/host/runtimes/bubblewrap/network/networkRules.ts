import type { Network } from '#shared/contract/sandboxes.ts'

/** Addresses of the sandbox, its gateway and its name server. They match the user networks of QEMU and slirp. */
export const sandboxAddresses = { sandbox: '10.0.2.15', mask: '255.255.255.0', gateway: '10.0.2.2', names: '10.0.2.3' }

/** Name of the sandbox's network card, as created by pasta. */
export const networkCard = 'eth0'

export type NetworkRules = {
  /** Rules loaded before the sandbox is connected. */
  rules: string
  /**
   * Rules for the network card, loaded once it exists. They filter all outgoing frames, including frames from packet
   * sockets, which bypass `rules`. Require Linux 5.16.
   */
  frameRules: string
  /** Chains that reject this computer's addresses, and their verdict. Null if these addresses are allowed. */
  ownRules: { rules: ChainVerdict; frames: ChainVerdict } | null
}
type ChainVerdict = readonly [chain: string, verdict: 'reject' | 'drop']

/**
 * Creates nftables rules for the sandbox's network namespace, which processes inside cannot change. IPv6 is not
 * connected and is rejected immediately, so that programs do not wait for a timeout.
 * @param closed networks that are unreachable with `internet`, such as `10.0.0.0/8`
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
