import type {
  AssistantTurn,
  CanonicalRequest,
  TextPart,
  ToolResultPart,
  Turn,
  UserTurn,
} from '../canonical/canonical.ts'
import { omitUnsupportedParameters } from '../catalogue/modelRefusals.ts'
import { type JsonObject, omitUndefined, parseJsonObject } from '../json.ts'
import { buildReasoningFields } from './openAiRequest.ts'
import type { Target, UpstreamRequest } from './upstream.ts'

/**
 * Builds a request for models that OpenAI offers only in the Responses API. Nothing is stored there, so thinking is
 * returned encrypted.
 * @see https://platform.openai.com/docs/api-reference/responses/create
 */
export function buildResponsesUpstreamRequest(canonical: CanonicalRequest, target: Target): UpstreamRequest {
  const request = omitUnsupportedParameters(canonical, target.model)
  const { tools, sampling, warnings } = request
  const effort = buildReasoningFields(request, target).reasoning_effort
  const text = omitUndefined({ format: toFormatField(request), verbosity: request.verbosity })
  if (request.stop.length > 0) warnings.push('stop ignored: not supported by the Responses API')
  const body = omitUndefined({
    model: target.model.upstreamId,
    input: request.turns.flatMap(toItems),
    max_output_tokens: target.maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    tools: tools.length > 0 ? tools.map(toTool) : undefined,
    tool_choice: tools.length > 0 ? toToolChoice(request) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    text: Object.keys(text).length > 0 ? text : undefined,
    reasoning: target.model.reasoning ? omitUndefined({ effort, summary: 'auto' }) : undefined,
    prompt_cache_key: request.promptCacheKey,
    store: false,
    include: ['reasoning.encrypted_content'],
    stream: request.stream ? true : undefined,
  })
  return { path: '/responses', headers: {}, body, stream: request.stream, warnings }
}

function toItems(turn: Turn): JsonObject[] {
  if (turn.role === 'assistant') return toModelItems(turn)
  if (turn.role === 'user') return toUserItems(turn)
  const text = turn.parts.map((part) => part.text).join('\n\n')
  return text === '' ? [] : [{ type: 'message', role: turn.developer ? 'developer' : 'system', content: text }]
}

function toUserItems(turn: UserTurn): JsonObject[] {
  const results = turn.parts.filter((part) => part.type === 'result').map(toResultItem)
  const content = turn.parts.flatMap(toContent)
  return content.length > 0 ? [...results, { type: 'message', role: 'user', content }] : results
}

function toResultItem(part: ToolResultPart): JsonObject {
  const texts = part.parts.filter((it): it is TextPart => it.type === 'text')
  const output =
    texts.length === part.parts.length ? texts.map((it) => it.text).join('\n') : part.parts.flatMap(toContent)
  return { type: 'function_call_output', call_id: part.callId, output }
}

function toContent(part: UserTurn['parts'][number]): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'input_text', text: part.text }]
    case 'image': {
      const { source } = part
      const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`
      return [{ type: 'input_image', image_url: url, detail: part.detail ?? 'auto' }]
    }
    case 'file': {
      const data = `data:${part.mediaType};base64,${part.base64}`
      return [{ type: 'input_file', filename: part.name ?? 'file', file_data: data }]
    }
    case 'result':
      return []
  }
}

/** Returns reasoning items of OpenAI unchanged, and drops thinking of other providers. */
function toModelItems(turn: AssistantTurn): JsonObject[] {
  return turn.parts.flatMap(toModelItem)
}

function toModelItem(part: AssistantTurn['parts'][number]): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (part.text === '') return []
      return [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text, annotations: [] }] },
      ]
    case 'redacted': {
      const item = part.sealed.origin === 'openai' ? parseJsonObject(part.sealed.value) : undefined
      return item ? [item] : []
    }
    case 'call':
      return [
        {
          type: 'function_call',
          call_id: part.id,
          name: part.name,
          arguments: part.arguments === '' ? '{}' : part.arguments,
        },
      ]
    case 'thinking':
      return []
  }
}

function toTool(tool: CanonicalRequest['tools'][number]): JsonObject {
  return omitUndefined({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    strict: tool.strict ?? false,
  })
}

function toToolChoice({ toolChoice: choice }: CanonicalRequest): unknown {
  if (!choice) return undefined
  return choice.type === 'tool' ? { type: 'function', name: choice.name } : choice.type
}

function toFormatField({ format }: CanonicalRequest): JsonObject | undefined {
  if (!format) return undefined
  if (format.type === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = format
  return omitUndefined({ type: 'json_schema', name, description, schema, strict })
}
