import { type FamilyId, familyIds } from '#shared/contract/families.ts'
import type { ConfiguredModel } from '#shared/modelFields.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { type ModelCatalogue, toLocalModel } from '../catalogue/modelCatalogue.ts'
import type { Provider } from './provider.ts'

export type InferenceOptions = {
  families: Readonly<Partial<Record<FamilyId, { baseUrl?: string | undefined; apiKey?: string | undefined }>>>
  /** Models by family, added to those of the catalog or overriding them. */
  models: Readonly<Partial<Record<FamilyId, readonly ConfiguredModel[]>>>
  local: readonly LocalServer[]
}

export type LocalServer = {
  name: string
  baseUrl: string
  apiKey?: string | undefined
  /** Whether models without `prices` are free (default). If false, their price is unknown. */
  isFree?: boolean | undefined
  models: readonly (Pick<ConfiguredModel, 'name'> & Partial<ConfiguredModel>)[]
}

/** Model that was rejected because its name is already used. */
export type RefusedModel = {
  server: string
  /**
   * Rejected model. Undefined if the whole server was rejected, because the configuration has one with the same name.
   */
  model?: string
  existingOwner: CatalogueModel['providerId']
}

export type ProviderSettings = ReturnType<typeof createProviderSettings>

/** Holds each provider's base URL and key, from the configuration or the user. In memory only. */
export function createProviderSettings(
  catalogue: ModelCatalogue,
  { families, local }: Pick<InferenceOptions, 'families' | 'local'>,
) {
  const keys = new Map<FamilyId, string>()
  let servers = new Map<string, Provider>()
  let models = new Map<string, CatalogueModel>()

  /** Names of the catalog cannot be overridden: otherwise users might be billed unexpectedly, or not at all. */
  const setLocal = (added: readonly LocalServer[]): RefusedModel[] => {
    const refused: RefusedModel[] = []
    servers = new Map()
    models = new Map(catalogue.models)
    for (const { name, baseUrl, apiKey, isFree, models: offered } of [...local, ...added]) {
      const providerId = `local:${name}` as const
      if (servers.has(providerId)) {
        refused.push({ server: name, existingOwner: providerId })
        continue
      }
      servers.set(providerId, { baseUrl, apiKey })
      for (const model of offered) {
        const existing = models.get(model.name)
        if (existing) refused.push({ server: name, model: model.name, existingOwner: existing.providerId })
        else models.set(model.name, toLocalModel(name, model, { isFree }))
      }
    }
    return refused
  }
  setLocal([])

  function findProvider({ providerId }: Pick<CatalogueModel, 'providerId'>): Provider | undefined {
    const server = servers.get(providerId)
    if (server) return server
    const family = familyIds.find((it) => it === providerId)
    const apiKey = family && (keys.get(family) ?? families[family]?.apiKey)
    if (!family || apiKey === undefined) return undefined
    return { baseUrl: families[family]?.baseUrl ?? catalogue.baseUrls[family], apiKey }
  }

  return {
    models: (): Iterable<CatalogueModel> => models.values(),
    modelNamed: (name: string): CatalogueModel | undefined => models.get(name),
    findProvider,
    /** Overrides the configured key; undefined restores it. */
    setKey(family: FamilyId, apiKey: string | undefined): void {
      if (apiKey === undefined) keys.delete(family)
      else keys.set(family, apiKey)
    },
    /**
     * Sets all servers that the user added, in addition to the configured ones.
     * @returns the models and servers that were rejected
     */
    setLocal,
  }
}
