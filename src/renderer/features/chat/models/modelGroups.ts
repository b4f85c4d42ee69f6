import { getProviderTitle } from '#shared/contract/families.ts'
import { type ListedModel, unknownPriceVersion } from '#shared/contract/inference.ts'

/** Formats model names: `gpt-5.2`, `gpt-5.2 and claude-opus-4.6`, `3 models`. */
export function formatModels(models: readonly string[]): string {
  const [first, second] = models
  if (first === undefined) return 'Choose a model'
  if (models.length === 1) return first
  return models.length === 2 ? `${first} and ${second}` : `${models.length} models`
}

export type ModelGroup = { provider: string; available: boolean; models: readonly ListedModel[] }

/** Groups models by provider, available providers first. Each group retains the service's order. */
export function groupModels(models: readonly ListedModel[], query: string): ModelGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const fitting = models.filter((model) => {
    const text = `${model.id} ${model.display_name} ${model.provider} ${getProviderTitle(model.provider)}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const groups = [...Map.groupBy(fitting, ({ provider }) => provider)].map(([provider, members]) => ({
    provider,
    available: members.some(({ available }) => available),
    models: members,
  }))
  return groups.sort((a, b) => Number(b.available) - Number(a.available))
}

/** Whether the model's price is known. Otherwise its cost counts as 0. */
export function isPriced({ pricing }: Pick<ListedModel, 'pricing'>): boolean {
  return pricing.price_version !== unknownPriceVersion
}

/** Whether details of the model are known. Only the name is known for a model of a user's server. */
export function hasProvider({ provider }: Pick<ListedModel, 'provider'>): boolean {
  return !provider.startsWith('local:')
}

/** Returns the first available model, used for a conversation without a model. */
export function findFirstModel(models: readonly ListedModel[]): string | undefined {
  return models.find(({ available }) => available)?.id
}
