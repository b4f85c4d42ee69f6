import { familyIds } from '#shared/contract/families.ts'
import type { ProviderServer } from './providerServer.ts'

/** All five families at the strict fakes, as `config.json` says it. */
export function createInferenceConfig({ providerOf }: Pick<ProviderServer, 'providerOf'>): { inference: object } {
  const families = Object.fromEntries(
    familyIds.map((id) => {
      const { baseUrl: base_url, apiKey: api_key } = providerOf(id)
      return [id, { base_url, api_key }]
    }),
  )
  return { inference: { families } }
}
