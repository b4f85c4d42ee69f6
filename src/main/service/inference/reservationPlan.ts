import { affordableOutputTokens, isFreeModel, type MaxModelTokens, maxModelCost } from '#shared/modelCost.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import type { CacheMark, InnerRequest, Turn } from './innerForm.ts'

/** Where the caller names no limit: enough for most answers, and no hold that stops everything else of theirs. */
export const defaultOutputTokens = 16_384
/** Of the balance, what such an answer may cost at most. */
const defaultShare = 4

export type HoldPlan = { amountMicroUsd: number; maxOutputTokens: number }

/**
 * What is held for a request, and how many tokens of output it pays for. `max_tokens` is clamped to what the balance
 * covers; without it, the least of the model's greatest, 16,384 tokens, and what a quarter of the balance pays for.
 * @returns undefined where not even one token of output is covered
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
  let output = affordableOutputTokens(model.tiers, max, availableMicroUsd)
  if (requested === undefined) {
    const share = Math.floor(availableMicroUsd / defaultShare)
    output = Math.min(output, affordableOutputTokens(model.tiers, { ...max, input: 0, output }, share))
  }
  if (output < 1) return undefined
  return { amountMicroUsd: maxModelCost(model.tiers, { ...max, output }), maxOutputTokens: output }
}

/** How long the caller asks that any of the prompt be kept: writing it costs more than reading. */
export function findRequestedTtl(request: InnerRequest): CacheMark | undefined {
  const marks = new Set<CacheMark | undefined>([request.cache, ...request.tools.map((tool) => tool.cache)])
  for (const turn of request.turns) for (const part of turn.parts) marks.add(cacheOfPart(part))
  if (marks.has('1h')) return '1h'
  return marks.has('5m') ? '5m' : undefined
}

function cacheOfPart(part: Turn['parts'][number]): CacheMark | undefined {
  if (part.type === 'result') return part.cache ?? part.parts.find((it) => it.cache)?.cache
  return 'cache' in part ? part.cache : undefined
}
