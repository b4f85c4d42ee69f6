/**
 * Prices of one tier in US dollars per million tokens (micro-dollars per token), with at most six decimals. A tier
 * applies to the whole request if its input, cached or not, exceeds `above_input_tokens`.
 */
export type ModelPriceTier = {
  above_input_tokens: number
  input_per_million: number
  output_per_million: number
  cache_read_per_million: number
  cache_write_5m_per_million: number
  cache_write_1h_per_million: number
}

/** Used tokens. `input` excludes cache reads and writes. */
export type ModelTokens = {
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
}

/** Maximum tokens of a request, and the cache lifetime of its input. */
export type MaxModelTokens = { input: number; output: number; cache: '5m' | '1h' | undefined }

/** Scale at which every price is an integer, so that sums are exact. */
const priceScale = 1_000_000

/** @returns whole micro-dollars, rounded up once */
export function computeModelCost(tiers: readonly ModelPriceTier[], tokens: ModelTokens): number {
  const { input, cacheRead, cacheWrite5m, cacheWrite1h, output } = tokens
  const prices = scaleTier(findTier(tiers, input + cacheRead + cacheWrite5m + cacheWrite1h))
  return roundUp(
    BigInt(input) * prices.input +
      BigInt(cacheRead) * prices.cacheRead +
      BigInt(cacheWrite5m) * prices.cacheWrite5m +
      BigInt(cacheWrite1h) * prices.cacheWrite1h +
      BigInt(output) * prices.output,
  )
}

/** @returns the savings of cached tokens in micro-dollars; negative if writing them cost more */
export function computeModelCacheSavings(tiers: readonly ModelPriceTier[], tokens: ModelTokens): number {
  const input = tokens.input + tokens.cacheRead + tokens.cacheWrite5m + tokens.cacheWrite1h
  const uncached = { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: tokens.output }
  return computeModelCost(tiers, uncached) - computeModelCost(tiers, tokens)
}

/**
 * Returns the maximum cost of a request in whole micro-dollars: all input at the highest price that may apply,
 * in the most expensive tier that the input can reach.
 */
export function computeMaxModelCost(
  tiers: readonly ModelPriceTier[],
  { input, output, cache }: MaxModelTokens,
): number {
  const reachable = tiers.filter((tier) => tier.above_input_tokens === 0 || input > tier.above_input_tokens)
  const costs = reachable.map((tier) => {
    const prices = scaleTier(tier)
    const inputPrices = [prices.input, prices.cacheRead]
    if (cache) inputPrices.push(prices.cacheWrite5m)
    if (cache === '1h') inputPrices.push(prices.cacheWrite1h)
    // Math.max does not accept bigints.
    const highest = inputPrices.toSorted((a, b) => (a < b ? 1 : -1))[0] ?? prices.input
    return roundUp(BigInt(input) * highest + BigInt(output) * prices.output)
  })
  return Math.max(...costs)
}

/**
 * @returns the maximum output tokens that the budget covers in addition to the input, or 0 if it does not cover the
 * input
 */
export function computeAffordableOutputTokens(
  tiers: readonly ModelPriceTier[],
  max: MaxModelTokens,
  budgetMicroUsd: number,
): number {
  if (computeMaxModelCost(tiers, max) <= budgetMicroUsd) return max.output
  let [covered, uncovered] = [0, max.output]
  while (uncovered - covered > 1) {
    const output = Math.floor((covered + uncovered) / 2)
    if (computeMaxModelCost(tiers, { ...max, output }) <= budgetMicroUsd) covered = output
    else uncovered = output
  }
  return covered
}

export function isFreeModel(tiers: readonly ModelPriceTier[]): boolean {
  return tiers.every(({ above_input_tokens: _, ...prices }) => Object.values(prices).every((price) => price === 0))
}

function findTier(tiers: readonly ModelPriceTier[], inputTokens: number): ModelPriceTier {
  const tier = tiers.findLast((it) => inputTokens > it.above_input_tokens) ?? tiers[0]
  if (!tier) throw new Error('A model has no price tier.')
  return tier
}

function scaleTier(tier: ModelPriceTier) {
  const scale = (price: number) => BigInt(Math.round(price * priceScale))
  return {
    input: scale(tier.input_per_million),
    output: scale(tier.output_per_million),
    cacheRead: scale(tier.cache_read_per_million),
    cacheWrite5m: scale(tier.cache_write_5m_per_million),
    cacheWrite1h: scale(tier.cache_write_1h_per_million),
  }
}

function roundUp(scaled: bigint): number {
  const scale = BigInt(priceScale)
  return Number((scaled + scale - 1n) / scale)
}
