import type { ListedModel } from '#shared/contract/inference.ts'
import {
  computeAffordableOutputTokens,
  computeMaxModelCost,
  computeModelCacheSavings,
  computeModelCost,
} from '#shared/modelCost.ts'

/** `input` includes cached tokens and cache writes. */
export type UsedTokens = { input: number; cached: number; cacheWritten: number; output: number }
type MaxTokens = Pick<UsedTokens, 'input' | 'output'>

export function computeCost({ pricing }: ListedModel, used: UsedTokens): number {
  return computeModelCost(pricing.tiers, toModelTokens(used))
}

export function computeCacheSavings({ pricing }: ListedModel, used: UsedTokens): number {
  return computeModelCacheSavings(pricing.tiers, toModelTokens(used))
}

/** Returns at least the amount that the service holds. The service may request prompt caching by default. */
export function computeWorstCost({ pricing }: ListedModel, max: MaxTokens): number {
  return computeMaxModelCost(pricing.tiers, { ...max, cache: '5m' })
}

export function computeAffordableOutput({ pricing }: ListedModel, max: MaxTokens, budgetMicroUsd: number): number {
  return computeAffordableOutputTokens(pricing.tiers, { ...max, cache: '5m' }, budgetMicroUsd)
}

/** Whether the provider caches prompts only on request and charges separately for it. */
export function isCacheBilled({ pricing }: ListedModel): boolean {
  return pricing.cache_write_5m_per_million > pricing.input_per_million
}

function toModelTokens({ input, cached, cacheWritten, output }: UsedTokens) {
  const fresh = Math.max(0, input - cached - cacheWritten)
  return { input: fresh, cacheRead: cached, cacheWrite5m: cacheWritten, cacheWrite1h: 0, output }
}
