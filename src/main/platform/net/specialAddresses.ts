/**
 * Networks that are not globally reachable (https://www.iana.org/assignments/iana-ipv4-special-registry and its IPv6
 * counterpart), and addresses of cloud metadata services. Shared by sandboxes, payments and image downloads.
 */
export type SpecialNetwork = {
  network: string
  bits: number
  /** `documentation`: reserved for examples and not routed, so a sandbox may use them for test networks. */
  purpose: 'private' | 'documentation'
}

export const specialNetworks: readonly SpecialNetwork[] = [
  { network: '0.0.0.0', bits: 8, purpose: 'private' },
  { network: '10.0.0.0', bits: 8, purpose: 'private' },
  { network: '100.64.0.0', bits: 10, purpose: 'private' },
  { network: '127.0.0.0', bits: 8, purpose: 'private' },
  // Azure's WireServer, which serves certificates and secrets of the virtual machine.
  { network: '168.63.129.16', bits: 32, purpose: 'private' },
  // Includes cloud metadata services, which serve credentials.
  { network: '169.254.0.0', bits: 16, purpose: 'private' },
  { network: '172.16.0.0', bits: 12, purpose: 'private' },
  { network: '192.0.0.0', bits: 24, purpose: 'private' },
  { network: '192.0.2.0', bits: 24, purpose: 'documentation' },
  { network: '192.88.99.0', bits: 24, purpose: 'private' },
  { network: '192.168.0.0', bits: 16, purpose: 'private' },
  { network: '198.18.0.0', bits: 15, purpose: 'private' },
  { network: '198.51.100.0', bits: 24, purpose: 'documentation' },
  { network: '203.0.113.0', bits: 24, purpose: 'documentation' },
  { network: '224.0.0.0', bits: 4, purpose: 'private' },
  { network: '240.0.0.0', bits: 4, purpose: 'private' },
  // Networks that embed IPv4 addresses, and those for documentation and tunnels.
  { network: '2001::', bits: 23, purpose: 'private' },
  { network: '2001:db8::', bits: 32, purpose: 'documentation' },
  { network: '2002::', bits: 16, purpose: 'private' },
  { network: '3fff::', bits: 20, purpose: 'documentation' },
]

/** IPv4 networks that are blocked for sandboxes with network `internet`, such as `10.0.0.0/8`. */
export const networksClosedToSandboxes: readonly string[] = specialNetworks
  .filter(({ network, purpose }) => purpose === 'private' && !network.includes(':'))
  .map(({ network, bits }) => `${network}/${bits}`)
