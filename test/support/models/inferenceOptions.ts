import type { InferenceOptions } from '#service/inference/providers/providerSettings.ts'
import { familyIds } from '#shared/contract/families.ts'
import type { ProviderServer } from './providerServer.ts'

/** Configures all five families with the strict fakes, and one custom server with two free models. */
export function createInferenceOptions(providers: Pick<ProviderServer, 'providerOf'>): InferenceOptions {
  return {
    families: Object.fromEntries(familyIds.map((id) => [id, providers.providerOf(id)])),
    models: {},
    local: [
      {
        name: 'shed',
        ...providers.providerOf('local:shed'),
        models: [{ name: 'shed-model' }, { name: 'nomic-embed-text' }],
      },
    ],
  }
}
