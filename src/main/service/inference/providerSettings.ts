import type { Provider } from './gateway.ts'
import {
  type CatalogueModel,
  type ConfiguredModel,
  type FamilyId,
  familyIds,
  localModel,
  type ModelCatalogue,
} from './modelCatalogue.ts'

/** What the configuration says of providers. */
export type InferenceOptions = {
  families: Readonly<Partial<Record<FamilyId, { baseUrl?: string | undefined; apiKey?: string | undefined }>>>
  /** Of families, beside those of the catalogue or with other values. */
  models: Readonly<Partial<Record<FamilyId, readonly ConfiguredModel[]>>>
  local: readonly LocalServer[]
}

export type LocalServer = {
  name: string
  baseUrl: string
  apiKey?: string | undefined
  models: readonly (Pick<ConfiguredModel, 'name'> & Partial<ConfiguredModel>)[]
}

/** Where each provider answers, and its key: of the config, or as the person sets it. In memory only. */
export function providerSettings(
  catalogue: ModelCatalogue,
  { families, local }: Pick<InferenceOptions, 'families' | 'local'>,
) {
  const keys = new Map<FamilyId, string>()
  const servers = new Map<string, Provider>()
  const models = new Map<string, CatalogueModel>(catalogue.models)
  for (const family of familyIds) {
    const key = families[family]?.apiKey
    if (key !== undefined) keys.set(family, key)
  }
  for (const server of local) {
    servers.set(`local:${server.name}`, { baseUrl: server.baseUrl, apiKey: server.apiKey })
    // A name of the catalogue stays what it is: nobody shall be billed by surprise, or not at all.
    for (const model of server.models) {
      if (!models.has(model.name)) models.set(model.name, localModel(server.name, model))
    }
  }

  function providerOf({ place }: Pick<CatalogueModel, 'place'>): Provider | undefined {
    const server = servers.get(place)
    if (server) return server
    const family = familyIds.find((it) => it === place)
    const apiKey = family && keys.get(family)
    if (!family || apiKey === undefined) return undefined
    return { baseUrl: families[family]?.baseUrl ?? catalogue.families[family].base_url, apiKey }
  }

  return {
    models: (): Iterable<CatalogueModel> => models.values(),
    modelNamed: (name: string): CatalogueModel | undefined => models.get(name),
    providerOf,
    /** Undefined takes the key away. */
    setKey(family: FamilyId, apiKey: string | undefined): void {
      if (apiKey === undefined) keys.delete(family)
      else keys.set(family, apiKey)
    },
  }
}
