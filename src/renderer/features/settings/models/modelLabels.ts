import { getProviderTitle } from '#shared/contract/families.ts'
import { type ListedModel, unknownPriceVersion } from '#shared/contract/inference.ts'
import type { ModelServer } from '#shared/contract/providers.ts'
import { formatUsd } from '#shared/money/moneyText.ts'

/** Formats the price of a million tokens, such as `$1.25`. */
export function formatPerMillion(perMillion: number): string {
  return perMillion === 0 ? 'Free' : formatUsd(perMillion * 1_000_000, 'exact')
}

type Pricing = ListedModel['pricing']

/** Formats one price of a model, such as `$1.25` or `Unknown`. */
export function formatPrice(
  pricing: Pricing,
  of: 'input_per_million' | 'cache_read_per_million' | 'output_per_million',
): string {
  return pricing.price_version === unknownPriceVersion ? 'Unknown' : formatPerMillion(pricing[of])
}

/** Formats a number of tokens, such as `128K` or `1M`. */
export function formatTokens(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}K` : String(tokens)
}

export type NameConflict = { model: string; by: string }

/** Returns models of a server that cannot be used because another provider has a model of the same name. */
export function findNameConflicts(
  server: Pick<ModelServer, 'name' | 'models'>,
  listed: readonly ListedModel[],
): NameConflict[] {
  const providers = new Map(listed.map(({ id, provider }) => [id, provider]))
  return server.models.flatMap((model) => {
    const provider = providers.get(model)
    return provider === undefined || provider === `local:${server.name}`
      ? []
      : [{ model, by: getProviderTitle(provider) }]
  })
}

export function formatModelCount(count: number): string {
  return count === 1 ? '1 model' : `${count === 0 ? 'No' : count} models`
}
