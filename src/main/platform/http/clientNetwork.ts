import { isIPv6 } from 'node:net'

/**
 * Returns the network under which an address is rate-limited: the address for IPv4, the /64 network of one subscriber
 * for IPv6.
 */
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

export function isLoopbackAddress(address: string): boolean {
  const plain = unmapIpv4(address)
  return plain === '::1' || plain.startsWith('127.')
}

/** Removes the prefix of an IPv4-mapped address and the zone of a link-local address. */
function unmapIpv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}
