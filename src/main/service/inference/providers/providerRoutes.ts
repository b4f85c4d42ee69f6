import { testProvider } from '#shared/contract/providers.ts'
import { createEndpoint, type Endpoint } from '../../base/endpoint.ts'
import type { ProviderTest } from './providerTest.ts'

/** Creates the endpoints for the user at this computer, to whom the keys belong. */
export function createProviderRoutes(test: Pick<ProviderTest, 'test'>): Endpoint[] {
  return [createEndpoint(testProvider, ({ params }, { signal }) => test.test(params.family, signal))]
}
