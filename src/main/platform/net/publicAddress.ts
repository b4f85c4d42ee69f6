import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { specialNetworks } from './specialAddresses.ts'

const special = new BlockList()
for (const { network, bits } of specialNetworks) special.addSubnet(network, bits, isIPv6(network) ? 'ipv6' : 'ipv4')
/** Global unicast addresses (IPv6). */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address is on the public internet. False for invalid addresses, and for the current addresses of this
 * computer, whose services may trust local connections.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const isGlobal = isIPv6(address)
    ? global.check(address, 'ipv6') && !special.check(address, 'ipv6')
    : !special.check(address, 'ipv4')
  return isGlobal && !isOwnAddress(address)
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => entry.address === address))
}
