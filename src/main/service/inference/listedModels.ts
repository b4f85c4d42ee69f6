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

/** In the form that clients of OpenAI read, and clients of Anthropic. */
export function listedModels({ models, isAvailable }: Options): ListedModels {
  return () => {
    const data = [...models()].map((model) => listed(model, isAvailable(model)))
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

function listed(model: CatalogueModel, available: boolean): ListedModel {
  const provider = providerOf(model)
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
    pricing: pricingOf(model),
  }
}

function providerOf({ place }: CatalogueModel): string {
  const id = familyIds.find((it) => it === place)
  return id === undefined ? place : families[id].provider
}

function pricingOf({ tiers, priceVersion }: CatalogueModel): ListedModel['pricing'] {
  const [first] = tiers
  if (!first) throw new Error('A model has no price tier.')
  const { above_input_tokens: _, ...prices } = first
  return { ...prices, tiers: [...tiers], price_version: priceVersion }
}
