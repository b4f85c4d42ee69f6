import { familyIds } from '#shared/contract/families.ts'
import type { ProviderServer } from './providerServer.ts'

/** Configures all five families with the strict fakes, in the format of `config.json`. */
export function createInferenceConfig({ providerOf }: Pick<ProviderServer, 'providerOf'>): { inference: object } {
  const families = Object.fromEntries(
    familyIds.map((id) => {
      const { baseUrl: base_url, apiKey: api_key } = providerOf(id)
      return [id, { base_url, api_key }]
    }),
  )
  return { inference: { families } }
}
