import type { ListedModel } from '../../../shared/contract/inference.ts'

export type UsedTokens = { input: number; cached: number; cacheWritten: number; output: number }

type Prices = { input: number; cached: number; written: number; output: number }

/**
 * What it costs in whole micro-dollars, rounded up: a price of a million tokens in dollars is one of a token in
 * micro-dollars.
 */
export function costOf(model: ListedModel, { input, cached, cacheWritten, output }: UsedTokens): number {
  const prices = pricesAt(model, input)
  const fresh = Math.max(0, input - cached - cacheWritten)
  return roundedUp(
    fresh * prices.input + cached * prices.cached + cacheWritten * prices.written + output * prices.output,
  )
}

/** What cached tokens saved against sending them as new ones; below 0 while writing costs more. */
export function savedByCache(model: ListedModel, { cached, cacheWritten, input }: UsedTokens): number {
  const prices = pricesAt(model, input)
  return Math.round(cached * (prices.input - prices.cached) - cacheWritten * (prices.written - prices.input))
}

/** Any tier that the input can reach may be the one that counts, and no way to read the input is cheaper than the dearest. */
export function worstCost(model: ListedModel, { input, output }: Pick<UsedTokens, 'input' | 'output'>): number {
  const tiers = model.pricing.tiers.filter((it) => it.above_input_tokens === 0 || input > it.above_input_tokens)
  const reachable = [pricesAt(model, 0), ...tiers.map((it) => pricesAt(model, it.above_input_tokens + 1))]
  const costs = reachable.map(
    (it) => input * Math.max(it.input, it.cached, asksForCache(model) ? it.written : 0) + output * it.output,
  )
  return roundedUp(Math.max(...costs))
}

/** The most output that `budgetMicroUsd` pays for beside the input; below 1 when not even that is paid. */
export function affordableOutput(
  model: ListedModel,
  { input, output }: Pick<UsedTokens, 'input' | 'output'>,
  budgetMicroUsd: number,
): number {
  if (worstCost(model, { input, output }) <= budgetMicroUsd) return output
  let [paid, unpaid] = [0, output]
  while (unpaid - paid > 1) {
    const middle = Math.floor((paid + unpaid) / 2)
    if (worstCost(model, { input, output: middle }) <= budgetMicroUsd) paid = middle
    else unpaid = middle
  }
  return paid
}

/** Its provider keeps a prompt only when asked to, and that has a price of its own. */
export function asksForCache({ pricing }: ListedModel): boolean {
  return pricing.cache_write_5m_per_million > pricing.input_per_million
}

function pricesAt({ pricing }: ListedModel, input: number): Prices {
  const tier = pricing.tiers.findLast((it) => input > it.above_input_tokens) ?? pricing.tiers[0]
  const base = pricing.input_per_million
  const price = tier?.input_per_million ?? base
  return {
    input: price,
    cached: tier?.cache_read_per_million ?? pricing.cache_read_per_million,
    // The list has one price for writing: of a dearer tier it grows with that of reading.
    written: base === 0 ? pricing.cache_write_5m_per_million : (pricing.cache_write_5m_per_million * price) / base,
    output: tier?.output_per_million ?? pricing.output_per_million,
  }
}

/** A sum of prices with six decimals is a little off: less than a thousandth of a micro-dollar is none. */
function roundedUp(microUsd: number): number {
  return Math.ceil(microUsd - 1e-3)
}
