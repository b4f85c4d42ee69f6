import type { CatalogueModel } from './catalogueModel.ts'
import { modelFamilies } from './families/modelFamilies.ts'

/** Headers that carry the key of a provider. */
export function createCredentialHeaders({ kind }: CatalogueModel, apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : modelFamilies[kind].credentialHeaders(apiKey)
}
