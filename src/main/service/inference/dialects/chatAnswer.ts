import { formatSseFrame } from '#platform/http/sseEvents.ts'
import type { CanonicalCompletion, CompletionPart } from '../canonical/answer.ts'
import { type FinishReason, sumInput, type Usage } from '../canonical/canonical.ts'
import type { InferenceError, InferenceErrorKind } from '../inferenceError.ts'
import { type JsonObject, omitUndefined } from '../json.ts'
import { formatOfOrigin, isUsageRequested } from './chatRequest.ts'
import type { ContentEvent, FinishEvent, ResponseMeta, StreamWriter, UsageReport } from './dialect.ts'

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filtered: 'content_filter',
  refused: 'content_filter',
  paused: 'stop',
  context_full: 'length',
}

/** @see https://platform.openai.com/docs/api-reference/chat/object */
export function toChatAnswer(answer: CanonicalCompletion, meta: ResponseMeta, bill: UsageReport): JsonObject {
  return {
    id: meta.id,
    object: 'chat.completion',
    created: meta.createdSeconds,
    model: meta.model,
    choices: [
      omitUndefined({
        index: 0,
        message: toMessage(answer.parts),
        logprobs: null,
        finish_reason: reasons[answer.reason],
        native_finish_reason: answer.native,
      }),
    ],
    usage: toChatUsage(bill),
  }
}

function toMessage(parts: readonly CompletionPart[]): JsonObject {
  const texts = parts.filter((part) => part.type === 'text')
  const calls = parts.filter((part) => part.type === 'call')
  const thinking = parts.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('')
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : [])).join('')
  const details = parts.flatMap((part) => toDetails(part))
  const signature = texts.find((part) => part.signature?.origin === 'gemini')?.signature
  return omitUndefined({
    role: 'assistant',
    content: texts.length > 0 ? texts.map((part) => part.text).join('') : null,
    refusal: refusal === '' ? null : refusal,
    reasoning_content: thinking === '' ? undefined : thinking,
    reasoning_details: details.length > 0 ? details : undefined,
    extra_content: signature && toGoogleContent(signature.value),
    tool_calls:
      calls.length > 0
        ? calls.map((call) =>
            omitUndefined({
              id: call.id,
              type: 'function',
              function: { name: call.name, arguments: call.arguments },
              extra_content: call.signature?.origin === 'gemini' ? toGoogleContent(call.signature.value) : undefined,
            }),
          )
        : undefined,
  })
}

/** Collects the parts that callers return unchanged: thinking with its signature, and encrypted parts. */
function toDetails(part: CompletionPart): JsonObject[] {
  if (part.type === 'redacted') {
    return [{ type: 'reasoning.encrypted', data: part.sealed.value, format: formatOfOrigin[part.sealed.origin] }]
  }
  if (part.type !== 'thinking' || !part.signature || part.signature.origin === 'gemini') return []
  const { origin, value } = part.signature
  return [{ type: 'reasoning.text', text: part.text, signature: value, format: formatOfOrigin[origin] }]
}

function toGoogleContent(value: string): JsonObject {
  return { google: { thought_signature: value } }
}

export function toChatUsage({ usage, cost, warnings }: UsageReport): JsonObject {
  return omitUndefined({
    ...countTokens(usage),
    cost,
    warnings: warnings.length > 0 ? warnings : undefined,
  })
}

/** As OpenAI counts: cached tokens are included in the prompt, thinking in the completion. */
function countTokens(usage: Usage): JsonObject {
  const prompt = sumInput(usage)
  const written = usage.cacheWrite5m + usage.cacheWrite1h
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: omitUndefined({
      cached_tokens: usage.cacheRead,
      cache_write_tokens: written > 0 ? written : undefined,
    }),
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

/** `chunk` and `finishOnly` continue a stream whose earlier chunks were not written by this writer. */
type ChatStreamWriter = StreamWriter & { chunk: (delta: JsonObject) => string; finishOnly: StreamWriter['finish'] }

export function createChatStreamWriter(meta: ResponseMeta): ChatStreamWriter {
  const head = `{"id":${JSON.stringify(meta.id)},"object":"chat.completion.chunk","created":${meta.createdSeconds},"model":${JSON.stringify(meta.model)},`
  const withUsage = isUsageRequested(meta.requestBody)
  let begun = false
  let calls = 0
  /** Thinking that may still be signed, with its block. */
  let thinking = { block: -1, text: '' }

  function frame(delta: JsonObject): string {
    const first = begun ? '' : chunk({ role: 'assistant', content: '' })
    begun = true
    return first + chunk(delta)
  }
  const chunk = (delta: JsonObject) =>
    `data: ${head}"choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":null}]}\n\n`

  function writeEvent(event: ContentEvent): string {
    switch (event.type) {
      case 'text':
        return event.text === '' ? '' : frame({ content: event.text })
      case 'refusal':
        return frame({ refusal: event.text })
      case 'thinking':
        thinking = { block: event.block, text: (thinking.block === event.block ? thinking.text : '') + event.text }
        return event.text === '' ? '' : frame({ reasoning_content: event.text })
      case 'redacted':
        return frame({ reasoning_details: toDetails({ type: 'redacted', sealed: event.sealed }) })
      case 'signature': {
        const { signature } = event
        if (thinking.block !== event.block) return frame({ extra_content: toGoogleContent(signature.value) })
        const details = toDetails({ type: 'thinking', text: thinking.text, signature })
        return details.length > 0 ? frame({ reasoning_details: details }) : ''
      }
      case 'call':
        calls += 1
        return frame({
          tool_calls: [
            omitUndefined({
              index: calls - 1,
              id: event.id,
              type: 'function',
              function: { name: event.name, arguments: '' },
              extra_content: event.signature?.origin === 'gemini' ? toGoogleContent(event.signature.value) : undefined,
            }),
          ],
        })
      case 'arguments':
        return event.text === ''
          ? ''
          : frame({ tool_calls: [{ index: calls - 1, function: { arguments: event.text } }] })
      default:
        return ''
    }
  }

  function finishOnly(event: FinishEvent, bill: UsageReport): string {
    const choice = omitUndefined({
      index: 0,
      delta: {},
      logprobs: null,
      finish_reason: reasons[event.reason],
      native_finish_reason: event.native,
    })
    const end = `data: ${head}"choices":[${JSON.stringify(choice)}]}\n\n`
    const usage = withUsage ? `data: ${head}"choices":[],"usage":${JSON.stringify(toChatUsage(bill))}}\n\n` : ''
    return `${end}${usage}data: [DONE]\n\n`
  }

  return {
    write: writeEvent,
    finish: (event, bill) => (begun ? '' : chunk({ role: 'assistant', content: '' })) + finishOnly(event, bill),
    chunk,
    finishOnly,
    fail: (error) => formatSseFrame(toChatError(error)),
  }
}

const types: Readonly<Record<InferenceErrorKind, string>> = {
  request: 'invalid_request_error',
  too_large: 'invalid_request_error',
  model: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  credits: 'insufficient_quota',
  unconfigured: 'service_unavailable',
  rate: 'rate_limit_error',
  overloaded: 'server_error',
  timeout: 'server_error',
  upstream: 'server_error',
}

/** Formats an error for chat completions and Responses. @see https://platform.openai.com/docs/guides/error-codes */
export function toChatError(error: InferenceError): JsonObject {
  return omitUndefined({
    error: {
      message: error.message,
      type: types[error.kind],
      code: error.reason ?? null,
      param: error.param ?? null,
    },
    detail: error.detail,
  })
}
