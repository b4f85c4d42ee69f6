import { families, familyIds } from '#shared/contract/families.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { CatalogueModel } from './catalogueModel.ts'

export type ListedModels = () => {
  object: 'list'
  data: ListedModel[]
  models: ListedModel[]
  has_more: false
  first_id: string | null
  last_id: string | null
}

type Options = {
  models: () => Iterable<CatalogueModel>
  isAvailable: (model: CatalogueModel) => boolean
}

/** Lists models in a format that clients of OpenAI and of Anthropic can read. */
export function createListedModels({ models, isAvailable }: Options): ListedModels {
  return () => {
    const data = [...models()].map((model) => toListedModel(model, isAvailable(model)))
    return {
      object: 'list',
      data,
      models: data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    }
  }
}

function toListedModel(model: CatalogueModel, available: boolean): ListedModel {
  const provider = getProviderName(model)
  return {
    id: model.name,
    object: 'model',
    type: 'model',
    kind: model.modelKind,
    display_name: model.name,
    created: model.releasedOnSeconds,
    created_at: new Date(model.releasedOnSeconds * 1000).toISOString(),
    owned_by: provider,
    provider,
    available,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    images: model.images,
    reasoning: model.reasoning !== undefined,
    pricing: toPricing(model),
  }
}

function getProviderName({ providerId }: CatalogueModel): string {
  const id = familyIds.find((it) => it === providerId)
  return id === undefined ? providerId : families[id].provider
}

function toPricing({ tiers, priceVersion }: CatalogueModel): ListedModel['pricing'] {
  const [first] = tiers
  if (!first) throw new Error('A model has no price tier.')
  const { above_input_tokens: _, ...prices } = first
  return { ...prices, tiers: [...tiers], price_version: priceVersion }
}
