import { BlockList, isIP, isIPv6 } from 'node:net'

/** https://www.iana.org/assignments/iana-ipv4-special-registry and the one of IPv6: what is not reachable by everybody. */
const special = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  special.addSubnet(network, bits, 'ipv4')
}
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')
/** Of these, some lead to addresses of IPv4 within them, others are for examples and for tunnels. */
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(network, bits, 'ipv6')
}

/** Whether an address of the network is one of the public internet. Anything else is not, what is no address too. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  if (!isIPv6(address)) return !special.check(address, 'ipv4')
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6')
}
