import type { InnerAnswer } from '../answer.ts'
import type { InferenceError } from '../inferenceError.ts'
import { type FinishReason, inputOf } from '../innerForm.ts'
import { defined, type Loose, listAt, objectAt } from '../looseJson.ts'
import type { Bill, Told } from './dialect.ts'
import { outputItems } from './responsesItems.ts'
import { responsesTools } from './responsesTools.ts'

const incomplete: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  context_full: 'max_output_tokens',
  filtered: 'content_filter',
}

/** @see https://platform.openai.com/docs/api-reference/responses/object */
export function responsesAnswer(answer: InnerAnswer, told: Told, bill: Bill): Loose {
  const output = outputItems(answer.parts, {
    tools: responsesTools(listAt(told.asked, 'tools'), []),
    id: itemIds(told),
  })
  return finishedResponse(told, { reason: answer.reason, native: answer.native, output, bill })
}

/** Ids of items, made of the id of the answer. */
export function itemIds(told: Told): (prefix: string) => string {
  let count = 0
  const stem = told.id.replace(/^[a-z]+_/, '')
  return (prefix) => {
    count += 1
    return `${prefix}_${stem}${count.toString(36).padStart(3, '0')}`
  }
}

type Finished = { reason: FinishReason; native: string | undefined; output: readonly Loose[]; bill: Bill }

export function finishedResponse(told: Told, { reason, native, output, bill }: Finished): Loose {
  const why = incomplete[reason]
  told.onOutput?.(output)
  return {
    ...responseHead(told),
    status: why === undefined ? 'completed' : 'incomplete',
    completed_at: told.nowSeconds?.() ?? told.createdSeconds,
    incomplete_details: why === undefined ? null : { reason: why },
    output,
    usage: responsesUsage(bill),
    ...(native !== undefined && { native_finish_reason: native }),
  }
}

/** Before anything was answered; much of it repeats the request. */
export function responseHead({ id, model, createdSeconds, asked }: Told): Loose {
  const text = objectAt(asked, 'text')
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    completed_at: null,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    frequency_penalty: asked.frequency_penalty ?? 0,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: asked.max_tool_calls ?? null,
    model,
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    presence_penalty: asked.presence_penalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: asked.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...objectAt(asked, 'reasoning') },
    safety_identifier: asked.safety_identifier ?? null,
    service_tier: 'default',
    store: false,
    temperature: asked.temperature ?? 1,
    text: { format: { type: 'text' }, ...text },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: listAt(asked, 'tools'),
    top_logprobs: asked.top_logprobs ?? 0,
    top_p: asked.top_p ?? 1,
    truncation: 'disabled',
    usage: null,
    user: asked.user ?? null,
    metadata: objectAt(asked, 'metadata'),
  }
}

export function responsesUsage({ usage, cost, warnings }: Bill): Loose {
  const input = inputOf(usage)
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  return defined({
    input_tokens: input,
    input_tokens_details: defined({
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

export function failedResponse(told: Told, error: InferenceError): Loose {
  const code = error.kind === 'rate' ? 'rate_limit_exceeded' : (error.reason ?? 'server_error')
  return { ...responseHead(told), status: 'failed', error: { code, message: error.message } }
}
