import { getSandboxHost, replaceSandboxHost } from '#shared/contract/sandboxHost.ts'
import { type Endpoint, endpoint } from '../base/endpoint.ts'
import type { HostConnection } from './hostConnection.ts'

export function createHostRoutes(host: Pick<HostConnection, 'state' | 'replace'>): Endpoint[] {
  return [
    endpoint(getSandboxHost, () => host.state()),
    endpoint(replaceSandboxHost, async () => {
      await host.replace()
      return host.state()
    }),
  ]
}
