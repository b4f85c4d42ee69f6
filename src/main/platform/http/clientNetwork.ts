import { isIPv6 } from 'node:net'

/** Returns the network that limits count an address by: itself for IPv4, its /64 for IPv6, which one subscriber has. */
export function toClientNetwork(address: string): string {
  const plain = unmapIpv4(address)
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** Whether a connection comes from this computer. */
export function isLoopbackAddress(address: string): boolean {
  const plain = unmapIpv4(address)
  return plain === '::1' || plain.startsWith('127.')
}

/** Removes the prefix of an IPv4-mapped address, and the zone of a link-local one. */
function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}
