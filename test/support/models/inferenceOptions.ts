import type { InferenceOptions } from '#service/inference/providerSettings.ts'
import { familyIds } from '#shared/contract/families.ts'
import type { ProviderServer } from './providerServer.ts'

/** All five families, and one server of the user's own with two models that cost nothing, at the strict fakes. */
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
