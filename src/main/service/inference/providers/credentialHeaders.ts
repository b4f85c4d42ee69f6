import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { modelFamilies } from '../families/modelFamilies.ts'

export function createCredentialHeaders({ kind }: CatalogueModel, apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : modelFamilies[kind].credentialHeaders(apiKey)
}
