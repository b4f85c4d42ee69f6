import { lookup } from 'node:dns/promises'

/**
 * Returns the addresses of this service, for DNS records of a name that leads to a sandbox.
 * @param sandboxHost public host name of sandboxes; undefined if the service is reached on this computer only
 */
export async function resolveServiceAddresses(
  sandboxHost: string | undefined,
): Promise<{ type: 'A' | 'AAAA'; value: string }[]> {
  if (sandboxHost === undefined) return [{ type: 'A', value: '127.0.0.1' }]
  const addresses = await lookup(sandboxHost, { all: true })
  return addresses.map(({ address, family }) => ({ type: family === 6 ? 'AAAA' : 'A', value: address }))
}
