import { getSandboxHost, replaceSandboxHost } from '#shared/contract/sandboxHost.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { HostConnection } from './hostConnection.ts'

export function createHostRoutes(host: Pick<HostConnection, 'state' | 'replace'>): Endpoint[] {
  return [
    createEndpoint(getSandboxHost, () => host.state()),
    createEndpoint(replaceSandboxHost, async () => {
      await host.replace()
      return host.state()
    }),
  ]
}
