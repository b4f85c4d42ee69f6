import { testProvider } from '#shared/contract/providers.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { ProviderTest } from './providerTest.ts'

/** For the person at this machine, whose keys they are. */
export function createProviderRoutes(test: Pick<ProviderTest, 'test'>): Endpoint[] {
  return [createEndpoint(testProvider, ({ params }, { signal }) => test.test(params.family, signal))]
}
