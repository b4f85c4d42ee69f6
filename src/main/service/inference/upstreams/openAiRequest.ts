import type {
  AssistantTurn,
  CanonicalRequest,
  ImagePart,
  TextPart,
  ToolResultPart,
  UserTurn,
} from '../canonical/canonical.ts'
import { findNearestEffort, getEffort, isThinking, omitUnsupportedParameters } from '../catalogue/modelRefusals.ts'
import type { ChatQuirks, ModelQuirks } from '../families/quirks.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { type JsonObject, omitUndefined } from '../json.ts'
import type { Target, UpstreamRequest } from './upstream.ts'

type ImageRules = Pick<ModelQuirks, 'takesImageUrls'>

/** @throws Error if the model's family does not support chat completions */
function toChatQuirks({ name, quirks }: Target['model']): ChatQuirks {
  if (quirks.chat) return quirks.chat
  throw new Error(`${name} does not support chat completions.`)
}

/** @see https://platform.openai.com/docs/api-reference/chat/create */
export function buildOpenAiRequest(canonical: CanonicalRequest, target: Target): UpstreamRequest {
  const { model, maxOutputTokens } = target
  const quirks = toChatQuirks(model)
  const request = omitUnsupportedParameters(canonical, model)
  const { tools, sampling, warnings } = request
  const reasoning = buildReasoningFields(request, target)
  const stream = request.stream || (model.thinksInStreamsOnly && isThinking(request, model))
  const body = omitUndefined({
    model: model.upstreamId,
    messages: request.turns.flatMap((turn) => {
      if (turn.role === 'user') return toUserMessages(turn, model.quirks)
      if (turn.role === 'assistant') return toAssistantMessages(turn, quirks)
      const role = turn.developer && quirks.hasDeveloperRole ? 'developer' : 'system'
      return turn.parts.length > 0 ? [{ role, content: toTextContent(turn.parts) }] : []
    }),
    [quirks.maxTokensField]: maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: request.stop.length > 0 ? request.stop : undefined,
    response_format: toFormatField(request),
    tools: tools.length > 0 ? tools.map((tool) => ({ type: 'function', function: toFunction(tool) })) : undefined,
    tool_choice: tools.length > 0 ? toToolChoice(request) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    ...reasoning,
    verbosity: quirks.takesOwnFields ? request.verbosity : undefined,
    prompt_cache_key: quirks.takesOwnFields ? request.promptCacheKey : undefined,
    user: quirks.takesOwnFields ? request.user : undefined,
    stream: stream ? true : undefined,
    stream_options: stream ? { include_usage: true } : undefined,
  })
  return { path: '/chat/completions', headers: {}, body, stream, warnings }
}

export function buildReasoningFields(request: CanonicalRequest, { model }: Pick<Target, 'model'>): JsonObject {
  const { reasoning } = request
  if (!reasoning || !model.reasoning) {
    const takesAnyEffort = model.quirks.chat?.takesAnyEffort ?? false
    if (reasoning?.effort !== undefined && reasoning.effort !== 'none' && !takesAnyEffort) {
      request.warnings.push(`reasoning effort ignored: not supported by ${model.name}`)
    }
    return takesAnyEffort && reasoning?.effort ? { reasoning_effort: reasoning.effort } : {}
  }
  switch (model.reasoning.by) {
    case 'effort': {
      const requested = getEffort(request, model)
      const effort = findNearestEffort(requested, model.reasoning.values)
      if (effort !== requested)
        request.warnings.push(`reasoning effort ${requested} became ${effort} for ${model.name}`)
      return { reasoning_effort: effort }
    }
    case 'toggle':
      if (model.quirks.chat?.thinkingSwitch === 'enable_thinking')
        return { enable_thinking: isThinking(request, model) }
      return { thinking: { type: isThinking(request, model) ? 'enabled' : 'disabled' } }
    case 'budget':
      if (!isThinking(request, model)) return { enable_thinking: false }
      return omitUndefined({ enable_thinking: true, thinking_budget: reasoning.budgetTokens })
    default:
      return {}
  }
}

function toUserMessages(turn: UserTurn, family: ImageRules): JsonObject[] {
  const results = turn.parts.filter((part) => part.type === 'result')
  const rest = turn.parts.filter((part) => part.type !== 'result')
  // A tool message supports only text, so images of results follow in a user message after the last result.
  const images = results.flatMap((result) => result.parts.filter((part) => part.type === 'image'))
  const content = [...images, ...rest].filter((part) => part.type !== 'text' || part.text.trim() !== '')
  return [
    ...results.map(toToolMessage),
    ...(content.length > 0 ? [{ role: 'user', content: toUserContent(content, family) }] : []),
  ]
}

function toToolMessage(result: ToolResultPart): JsonObject {
  const texts = result.parts.filter((part) => part.type === 'text')
  const images = result.parts.length - texts.length
  const text = texts.map((part) => part.text).join('\n')
  const content = images > 0 ? `${text}${text === '' ? '' : '\n'}(${images} image${images > 1 ? 's' : ''} below)` : text
  return { role: 'tool', tool_call_id: result.callId, content }
}

function toUserContent(parts: UserTurn['parts'], family: ImageRules): unknown {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text' && !only.cache) return only.text
  return parts.map((part) => toUserPart(part, family))
}

function toUserPart(part: UserTurn['parts'][number], family: ImageRules): JsonObject {
  switch (part.type) {
    case 'text':
      return toTextPart(part)
    case 'image':
      return toImagePart(part, family)
    case 'file': {
      const data = `data:${part.mediaType};base64,${part.base64}`
      return { type: 'file', file: { filename: part.name ?? 'file', file_data: data } }
    }
    case 'result':
      throw new Error('Tool results are separate messages.')
  }
}

function toImagePart({ source, detail }: ImagePart, { takesImageUrls }: ImageRules): JsonObject {
  if (source.kind === 'url' && !takesImageUrls)
    throw createBadRequestError('messages', 'An image was not fetched.', 'image')
  const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
  return { type: 'image_url', image_url: omitUndefined({ url, detail }) }
}

function toAssistantMessages(turn: AssistantTurn, quirks: ChatQuirks): JsonObject[] {
  const texts = turn.parts.filter((part) => part.type === 'text' && part.text !== '') as TextPart[]
  const calls = turn.parts.filter((part) => part.type === 'call')
  if (texts.length === 0 && calls.length === 0) return []
  const thinking = turn.parts.flatMap((part) => (part.type === 'thinking' ? [part.text] : [])).join('')
  // Moonshot rejects calls without their thinking, but accepts a blank instead.
  const back = quirks.returnsThinking && calls.length > 0 ? thinking || ' ' : undefined
  return [
    omitUndefined({
      role: 'assistant',
      content: texts.length > 0 ? texts.map((part) => part.text).join('') : null,
      reasoning_content: back,
      tool_calls:
        calls.length > 0
          ? calls.map((call) => ({
              id: call.id,
              type: 'function',
              function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
            }))
          : undefined,
    }),
  ]
}

function toTextContent(parts: readonly TextPart[]): unknown {
  if (parts.some((part) => part.cache)) return parts.map(toTextPart)
  return parts.map((part) => part.text).join('\n\n')
}

function toTextPart(part: TextPart): JsonObject {
  return omitUndefined({ type: 'text', text: part.text, cache_control: part.cache ? { type: 'ephemeral' } : undefined })
}

function toFunction(tool: CanonicalRequest['tools'][number]): JsonObject {
  return omitUndefined({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    strict: tool.strict,
  })
}

function toToolChoice({ toolChoice: choice }: CanonicalRequest): unknown {
  if (!choice) return undefined
  return choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type
}

function toFormatField({ format }: CanonicalRequest): unknown {
  if (!format) return undefined
  if (format.type === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: omitUndefined({ name, description, schema, strict }) }
}
