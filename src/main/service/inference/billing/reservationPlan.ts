import {
  computeAffordableOutputTokens,
  computeMaxModelCost,
  isFreeModel,
  type MaxModelTokens,
} from '#shared/modelCost.ts'
import type { CacheMark, CanonicalRequest, Turn } from '../canonical/canonical.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'

/**
 * Output tokens if the caller sets no limit. Enough for most completions, without a hold that blocks the caller's other
 * requests.
 */
export const defaultOutputTokens = 16_384
/** Divisor for the share of the balance that such a completion may cost. */
const defaultShare = 4

export type HoldPlan = { amountMicroUsd: number; maxOutputTokens: number }

/**
 * Plans the hold of a request and the output tokens that it covers. `max_tokens` is clamped to the balance. Its default
 * is the smallest of the model's maximum, 16,384 tokens, and the tokens that a quarter of the balance covers.
 * @returns undefined if the balance does not cover one token of output
 */
export function planHold(
  model: CatalogueModel,
  { input, requested, cache }: { input: number; requested: number | undefined; cache: CacheMark | undefined },
  availableMicroUsd: number,
): HoldPlan | undefined {
  const max: MaxModelTokens = {
    input,
    cache,
    output: Math.min(requested ?? defaultOutputTokens, model.maxOutputTokens),
  }
  if (isFreeModel(model.tiers)) return { amountMicroUsd: 0, maxOutputTokens: max.output }
  let output = computeAffordableOutputTokens(model.tiers, max, availableMicroUsd)
  if (requested === undefined) {
    const share = Math.floor(availableMicroUsd / defaultShare)
    output = Math.min(output, computeAffordableOutputTokens(model.tiers, { ...max, input: 0, output }, share))
  }
  if (output < 1) return undefined
  return { amountMicroUsd: computeMaxModelCost(model.tiers, { ...max, output }), maxOutputTokens: output }
}

/** Returns the longest requested cache TTL. Writing to the cache costs more than reading. */
export function findRequestedTtl(request: CanonicalRequest): CacheMark | undefined {
  const marks = new Set<CacheMark | undefined>([request.cache, ...request.tools.map((tool) => tool.cache)])
  for (const turn of request.turns) for (const part of turn.parts) marks.add(getCacheMark(part))
  if (marks.has('1h')) return '1h'
  return marks.has('5m') ? '5m' : undefined
}

function getCacheMark(part: Turn['parts'][number]): CacheMark | undefined {
  if (part.type === 'result') return part.cache ?? part.parts.find((it) => it.cache)?.cache
  return 'cache' in part ? part.cache : undefined
}
