import { lookup } from 'node:dns/promises'

/**
 * Returns the addresses of this service for DNS records that point to a sandbox.
 * @param sandboxHost public host name of sandboxes, or undefined if the service is reached only on this computer
 */
export async function resolveServiceAddresses(
  sandboxHost: string | undefined,
): Promise<{ type: 'A' | 'AAAA'; value: string }[]> {
  if (sandboxHost === undefined) return [{ type: 'A', value: '127.0.0.1' }]
  const addresses = await lookup(sandboxHost, { all: true })
  return addresses.map(({ address, family }) => ({ type: family === 6 ? 'AAAA' : 'A', value: address }))
}
