import type { Effort, refusedParameters } from '#shared/modelFields.ts'
import type { CanonicalRequest, Sampling } from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import type { CatalogueModel } from './catalogueModel.ts'

type Parameter = (typeof refusedParameters)[number]

const samplingParameters: Partial<Record<Parameter, keyof Sampling>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
}

/**
 * Returns the request without the parameters that the model's catalog entry does not support, and lists them in
 * `warnings`.
 * @throws InferenceError if omitting a parameter would change the meaning of the request
 */
export function omitUnsupportedParameters(request: CanonicalRequest, model: CatalogueModel): CanonicalRequest {
  const cleaned: CanonicalRequest = { ...request, sampling: { ...request.sampling }, warnings: [...request.warnings] }
  for (const { parameter, when, outcome } of model.refuses) {
    if (when === 'reasoning' && !isThinking(cleaned, model)) continue
    if (!isUsed(cleaned, parameter)) continue
    if (outcome === 'reject')
      throw createBadRequestError(wireNames[parameter] ?? parameter, createRejection(parameter, model), 'unsupported')
    drop(cleaned, parameter)
    cleaned.warnings.push(`${wireNames[parameter] ?? parameter} ignored: not supported by ${model.name}`)
  }
  if (!model.images) rejectImages(cleaned, model)
  return cleaned
}

/** Whether the model thinks before this completion. */
export function isThinking(request: Pick<CanonicalRequest, 'reasoning'>, model: CatalogueModel): boolean {
  if (!model.reasoning) return false
  if (request.reasoning?.budgetTokens !== undefined) return request.reasoning.budgetTokens > 0
  return getEffort(request, model) !== 'none'
}

/** Returns the requested effort, or the model's default. */
export function getEffort(request: Pick<CanonicalRequest, 'reasoning'>, model: CatalogueModel): Effort {
  return request.reasoning?.effort ?? model.reasoning?.default ?? 'none'
}

/** Returns the nearest supported effort, preferring a lower one. */
export function findNearestEffort(effort: Effort, values: readonly Effort[]): Effort {
  if (values.includes(effort)) return effort
  const order: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
  const index = order.indexOf(effort)
  const lower = order.slice(0, index).findLast((value) => values.includes(value) && value !== 'none')
  return lower ?? order.slice(index).find((it) => values.includes(it)) ?? values[0] ?? 'medium'
}

function isUsed(request: CanonicalRequest, parameter: Parameter): boolean {
  const sampling = samplingParameters[parameter]
  if (sampling) return request.sampling[sampling] !== undefined
  switch (parameter) {
    case 'stop':
      return request.stop.length > 0
    case 'budget_tokens':
      return request.reasoning?.budgetTokens !== undefined
    case 'prefill':
      return request.turns.at(-1)?.role === 'assistant'
    case 'temperature_and_top_p':
      return request.sampling.temperature !== undefined && request.sampling.topP !== undefined
    case 'format_and_tools':
      return request.format !== undefined && request.tools.length > 0
    default:
      return false
  }
}

function drop(request: CanonicalRequest, parameter: Parameter): void {
  const sampling = samplingParameters[parameter]
  if (sampling) delete request.sampling[sampling]
  else if (parameter === 'stop') request.stop = []
  else if (parameter === 'temperature_and_top_p') delete request.sampling.topP
  else if (parameter === 'budget_tokens') request.reasoning = toEffort(request.reasoning?.budgetTokens ?? 0)
}

const wireNames: Partial<Record<Parameter, string>> = {
  temperature_and_top_p: 'top_p together with temperature',
  format_and_tools: 'response_format',
  prefill: 'messages',
}

function createRejection(parameter: Parameter, model: CatalogueModel): string {
  if (parameter === 'format_and_tools') return `${model.name} does not support a response format together with tools.`
  if (parameter === 'prefill') return `${model.name} does not support prefill: the last role must be \`user\`.`
  return `${model.name} does not support ${parameter}.`
}

/** Converts a budget for models with effort levels instead of budgets. */
function toEffort(tokens: number): { effort: Effort } {
  if (tokens <= 0) return { effort: 'none' }
  if (tokens <= 4_096) return { effort: 'low' }
  return { effort: tokens <= 12_288 ? 'medium' : 'high' }
}

function rejectImages(request: CanonicalRequest, model: CatalogueModel): void {
  for (const [index, turn] of request.turns.entries()) {
    if (turn.role !== 'user') continue
    const parts = turn.parts.flatMap((part) => (part.type === 'result' ? part.parts : [part]))
    if (parts.some((part) => part.type === 'image')) {
      throw createBadRequestError(`messages[${index}].content`, `${model.name} does not support images.`, 'unsupported')
    }
  }
}
