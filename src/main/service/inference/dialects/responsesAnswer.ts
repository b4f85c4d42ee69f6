import type { CanonicalCompletion } from '../canonical/answer.ts'
import { type FinishReason, sumInput } from '../canonical/canonical.ts'
import type { InferenceError } from '../inferenceError.ts'
import { getList, getObject, type JsonObject, omitUndefined } from '../json.ts'
import type { ResponseMeta, UsageReport } from './dialect.ts'
import { toOutputItems } from './responsesItems.ts'
import { parseResponsesTools } from './responsesTools.ts'

const incomplete: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  context_full: 'max_output_tokens',
  filtered: 'content_filter',
}

/** @see https://platform.openai.com/docs/api-reference/responses/object */
export function toResponsesAnswer(answer: CanonicalCompletion, meta: ResponseMeta, bill: UsageReport): JsonObject {
  const output = toOutputItems(answer.parts, {
    tools: parseResponsesTools(getList(meta.requestBody, 'tools'), []),
    id: createItemIds(meta),
  })
  return createFinishedResponse(meta, { reason: answer.reason, native: answer.native, output, bill })
}

/** Creates ids of items from the id of the response. */
export function createItemIds(meta: ResponseMeta): (prefix: string) => string {
  let count = 0
  const stem = meta.id.replace(/^[a-z]+_/, '')
  return (prefix) => {
    count += 1
    return `${prefix}_${stem}${count.toString(36).padStart(3, '0')}`
  }
}

type FinishedResponse = {
  reason: FinishReason
  native: string | undefined
  output: readonly JsonObject[]
  bill: UsageReport
}

export function createFinishedResponse(
  meta: ResponseMeta,
  { reason, native, output, bill }: FinishedResponse,
): JsonObject {
  const why = incomplete[reason]
  meta.onOutput?.(output)
  return {
    ...toResponseHead(meta),
    status: why === undefined ? 'completed' : 'incomplete',
    completed_at: meta.nowSeconds?.() ?? meta.createdSeconds,
    incomplete_details: why === undefined ? null : { reason: why },
    output,
    usage: toResponsesUsage(bill),
    ...(native !== undefined && { native_finish_reason: native }),
  }
}

/** Response before any output. Many of its fields repeat the request. */
export function toResponseHead({ id, model, createdSeconds, requestBody }: ResponseMeta): JsonObject {
  const text = getObject(requestBody, 'text')
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: requestBody.instructions ?? null,
    frequency_penalty: requestBody.frequency_penalty ?? 0,
    max_output_tokens: requestBody.max_output_tokens ?? null,
    max_tool_calls: requestBody.max_tool_calls ?? null,
    model,
    output: [],
    parallel_tool_calls: requestBody.parallel_tool_calls ?? true,
    presence_penalty: requestBody.presence_penalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: requestBody.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...getObject(requestBody, 'reasoning') },
    safety_identifier: requestBody.safety_identifier ?? null,
    service_tier: 'default',
    store: false,
    temperature: requestBody.temperature ?? 1,
    text: { format: { type: 'text' }, ...text },
    tool_choice: requestBody.tool_choice ?? 'auto',
    tools: getList(requestBody, 'tools'),
    top_logprobs: requestBody.top_logprobs ?? 0,
    top_p: requestBody.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    user: requestBody.user ?? null,
    metadata: getObject(requestBody, 'metadata'),
  }
}

export function toResponsesUsage({ usage, cost, warnings }: UsageReport): JsonObject {
  const input = sumInput(usage)
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  return omitUndefined({
    input_tokens: input,
    input_tokens_details: omitUndefined({
      cached_tokens: usage.cacheRead,
      cache_write_tokens: written > 0 ? written : undefined,
    }),
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
    cost,
    warnings: warnings.length > 0 ? warnings : undefined,
  })
}

export function createFailedResponse(meta: ResponseMeta, error: InferenceError): JsonObject {
  const code = error.kind === 'rate' ? 'rate_limit_exceeded' : (error.reason ?? 'server_error')
  return { ...toResponseHead(meta), status: 'failed', error: { code, message: error.message } }
}
