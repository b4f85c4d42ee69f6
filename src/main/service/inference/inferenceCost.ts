import { type CacheMark, inputOf, type Usage } from './innerForm.ts'
import type { CatalogueModel, PriceTier } from './modelCatalogue.ts'

/** A price of a million tokens in micro-dollars is a whole number, so that sums are exact. */
const perMillion = 1_000_000

/** What an answer costs in whole micro-dollars, rounded up once at the end. */
export function costOf(model: Pick<CatalogueModel, 'prices'>, usage: Usage): number {
  const tier = tierOf(model.prices, inputOf(usage))
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = scaled(tier)
  const sum =
    BigInt(usage.input) * input +
    BigInt(usage.cacheRead) * cacheRead +
    BigInt(usage.cacheWrite5m) * cacheWrite5m +
    BigInt(usage.cacheWrite1h) * cacheWrite1h +
    BigInt(usage.output) * output
  return Number(roundedUp(sum))
}

/** What cached tokens saved against sending them as new ones, in micro-dollars; below 0 while writing costs more. */
export function savedByCache(model: Pick<CatalogueModel, 'prices'>, usage: Usage): number {
  const fresh: Usage = { ...usage, input: inputOf(usage), cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
  return costOf(model, fresh) - costOf(model, usage)
}

/** What a request can take at most, in tokens, and whether it asks for its input to be kept. */
export type Most = { input: number; output: number; cache: CacheMark | undefined }

/**
 * The most that a request can cost: no part of its input is cheaper than the dearest way to read it, and any tier that
 * the input can reach may be the one that counts.
 */
export function worstCost(model: Pick<CatalogueModel, 'prices'>, { input, output, cache }: Most): number {
  const reachable = model.prices.filter((it) => it.above_input_tokens === 0 || input > it.above_input_tokens)
  const costs = reachable.map((tier) => {
    const prices = scaled(tier)
    const ways = [prices.input, prices.cacheRead]
    if (cache) ways.push(prices.cacheWrite5m)
    if (cache === '1h') ways.push(prices.cacheWrite1h)
    // Of big integers Math.max knows nothing.
    const dearest = ways.sort((one, other) => (one < other ? 1 : -1))[0] ?? prices.input
    return Number(roundedUp(BigInt(input) * dearest + BigInt(output) * prices.output))
  })
  return Math.max(...costs)
}

/** The most output that `budgetMicroUsd` pays for beside the input; 0 when not even the input is paid. */
export function affordableOutput(model: Pick<CatalogueModel, 'prices'>, most: Most, budgetMicroUsd: number): number {
  if (worstCost(model, most) <= budgetMicroUsd) return most.output
  let [paid, unpaid] = [0, most.output]
  while (unpaid - paid > 1) {
    const output = Math.floor((paid + unpaid) / 2)
    if (worstCost(model, { ...most, output }) <= budgetMicroUsd) paid = output
    else unpaid = output
  }
  return paid
}

export function isFree(model: Pick<CatalogueModel, 'prices'>): boolean {
  return model.prices.every((it) =>
    [it.input, it.output, it.cache_read, it.cache_write_5m, it.cache_write_1h].every((price) => (price ?? 0) === 0),
  )
}

function tierOf(tiers: readonly PriceTier[], inputTokens: number): PriceTier {
  const tier = tiers.findLast((it) => inputTokens > it.above_input_tokens) ?? tiers[0]
  if (!tier) throw new Error('A model has no price: the catalogue was not checked.')
  return tier
}

function scaled(tier: PriceTier) {
  const whole = (price: number) => BigInt(Math.round(price * perMillion))
  const input = whole(tier.input)
  const write5m = tier.cache_write_5m === undefined ? input : whole(tier.cache_write_5m)
  return {
    input,
    output: whole(tier.output),
    cacheRead: tier.cache_read === undefined ? input : whole(tier.cache_read),
    cacheWrite5m: write5m,
    cacheWrite1h: tier.cache_write_1h === undefined ? write5m : whole(tier.cache_write_1h),
  }
}

function roundedUp(sum: bigint): bigint {
  const million = BigInt(perMillion)
  return (sum + million - 1n) / million
}
