import { BlockList, isIP, isIPv6 } from 'node:net'
import { specialNetworks } from './specialAddresses.ts'

const special = new BlockList()
for (const { network, bits } of specialNetworks) special.addSubnet(network, bits, isIPv6(network) ? 'ipv6' : 'ipv4')
/** Global unicast addresses of IPv6. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** Whether an address of the network is one of the public internet. Anything else is not, what is no address too. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  if (!isIPv6(address)) return !special.check(address, 'ipv4')
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
