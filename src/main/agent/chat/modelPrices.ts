import type { ListedModel } from '../../../shared/contract/inference.ts'
import { affordableOutputTokens, maxModelCost, modelCacheSavings, modelCost } from '../../../shared/modelCost.ts'

/** `input` includes the cached tokens and those that were written. */
export type UsedTokens = { input: number; cached: number; cacheWritten: number; output: number }
type MaxTokens = Pick<UsedTokens, 'input' | 'output'>

export function costOf({ pricing }: ListedModel, used: UsedTokens): number {
  return modelCost(pricing.tiers, toModelTokens(used))
}

export function savedByCache({ pricing }: ListedModel, used: UsedTokens): number {
  return modelCacheSavings(pricing.tiers, toModelTokens(used))
}

/** No less than what the service holds: it may ask a provider to keep the prompt without being told to. */
export function worstCost({ pricing }: ListedModel, max: MaxTokens): number {
  return maxModelCost(pricing.tiers, { ...max, cache: '5m' })
}

export function affordableOutput({ pricing }: ListedModel, max: MaxTokens, budgetMicroUsd: number): number {
  return affordableOutputTokens(pricing.tiers, { ...max, cache: '5m' }, budgetMicroUsd)
}

/** Whether its provider keeps a prompt only when asked to, and that has a price of its own. */
export function asksForCache({ pricing }: ListedModel): boolean {
  return pricing.cache_write_5m_per_million > pricing.input_per_million
}

function toModelTokens({ input, cached, cacheWritten, output }: UsedTokens) {
  const fresh = Math.max(0, input - cached - cacheWritten)
  return { input: fresh, cacheRead: cached, cacheWrite5m: cacheWritten, cacheWrite1h: 0, output }
}
