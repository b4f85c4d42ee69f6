import { listResults } from '../canonical/callResults.ts'
import type {
  AssistantTurn,
  CacheMark,
  CanonicalRequest,
  ImagePart,
  TextPart,
  ToolResultPart,
  Turn,
  UserTurn,
} from '../canonical/canonical.ts'
import { findNearestEffort, getEffort, isThinking, omitUnsupportedParameters } from '../catalogue/modelRefusals.ts'
import { type JsonObject, omitUndefined, parseJsonObject } from '../json.ts'
import { closeSchema } from './closeSchema.ts'
import type { Target, UpstreamRequest } from './upstream.ts'

/** API version that this code was written for: https://docs.anthropic.com/en/api/versioning */
export const anthropicVersion = '2023-06-01'
const minBudget = 1_024
/** Share of the maximum output for thinking. The rest is for text and calls. */
const budgetShare = 0.8

/** @see https://docs.anthropic.com/en/api/messages */
export function buildAnthropicRequest(canonical: CanonicalRequest, target: Target): UpstreamRequest {
  const request = omitUnsupportedParameters(canonical, target.model)
  const { warnings } = request
  const system = request.turns.flatMap((turn) => (turn.role === 'system' ? turn.parts : []))
  const thinking = toThinkingFields(request, target)
  const tools = request.tools.map((tool) =>
    omitUndefined({
      name: tool.name,
      description: tool.description,
      input_schema: { type: 'object', ...tool.parameters },
      cache_control: toCacheField(tool.cache),
    }),
  )
  if (request.format?.type === 'json') {
    system.push({ type: 'text', text: 'Answer with one JSON object and nothing else.' })
    warnings.push('response_format json_object became an instruction')
  }
  const messages = toMessages(request.turns)
  if (messages.length === 0 && system.length > 0) {
    messages.push({ role: 'user', content: system.splice(0).map(toTextBlock) })
  }
  const format = toFormatFields(request)
  const outputConfig = { ...thinking.outputConfig, ...format }
  const body = omitUndefined({
    model: target.model.upstreamId,
    max_tokens: target.maxOutputTokens,
    system: system.some((part) => part.text.trim() !== '') ? system.filter(isNotBlank).map(toTextBlock) : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? toToolChoice(request) : undefined,
    ...toSamplingFields(request, thinking.on),
    stop_sequences: toStopSequences(request),
    thinking: thinking.field,
    cache_control: toCacheField(request.cache),
    output_config: Object.keys(outputConfig).length > 0 ? outputConfig : undefined,
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    stream: request.stream ? true : undefined,
  })
  return {
    path: '/v1/messages',
    headers: { 'anthropic-version': anthropicVersion },
    body,
    stream: request.stream,
    warnings,
  }
}

type Thinking = { on: boolean; field: JsonObject | undefined; outputConfig: JsonObject }
const off: Thinking = { on: false, field: undefined, outputConfig: {} }

function toThinkingFields(request: CanonicalRequest, { model, maxOutputTokens }: Target): Thinking {
  const { reasoning, warnings } = request
  if (!reasoning || !isThinking(request, model)) return off
  const forced = request.toolChoice?.type === 'required' || request.toolChoice?.type === 'tool'
  if (forced && request.tools.length > 0) {
    warnings.push('thinking ignored: not supported with a forced tool')
    return off
  }
  if (model.reasoning?.by === 'adaptive') {
    const effort = findNearestEffort(getEffort(request, model), model.reasoning.values)
    return { on: true, field: { type: 'adaptive' }, outputConfig: { effort } }
  }
  if (model.reasoning?.by !== 'budget') return off
  if (hasLostThinking(request.turns)) {
    warnings.push('thinking ignored: the tool calls of this turn were sent back without it')
    return off
  }
  const max = Math.min(model.reasoning.max, Math.floor(maxOutputTokens * budgetShare))
  if (max < minBudget) {
    warnings.push(`thinking ignored: it requires more than ${Math.ceil(minBudget / budgetShare)} output tokens`)
    return off
  }
  const requested = reasoning.budgetTokens ?? thinkingBudgets[getEffort(request, model)]
  const budget = Math.max(minBudget, Math.min(requested, max))
  return { on: true, field: { type: 'enabled', budget_tokens: budget }, outputConfig: {} }
}

export const thinkingBudgets = {
  none: 0,
  minimal: 1_024,
  low: 4_096,
  medium: 12_288,
  high: 24_576,
  xhigh: 32_768,
  max: 63_999,
}

/**
 * Whether the turn with calls lacks signed thinking. The model continues its thinking, so such a turn must begin with
 * it.
 */
function hasLostThinking(turns: readonly Turn[]): boolean {
  const last = turns.findLast((turn) => turn.role !== 'system')
  if (last?.role !== 'user' || listResults(last).length === 0) return false
  const calling = turns.findLast((turn) => turn.role === 'assistant')
  if (!calling?.parts.some((part) => part.type === 'call')) return false
  return !isOwnThinking(calling.parts[0])
}

function isOwnThinking(part: AssistantTurn['parts'][number] | undefined): boolean {
  if (part?.type === 'thinking') return part.signature?.origin === 'anthropic'
  return part?.type === 'redacted' && part.sealed.origin === 'anthropic'
}

function toSamplingFields(request: CanonicalRequest, thinking: boolean): JsonObject {
  const { temperature, topP, topK } = request.sampling
  const { warnings } = request
  if (temperature !== undefined && temperature > 1) warnings.push('temperature became 1, the maximum of this provider')
  if (!thinking)
    return omitUndefined({ temperature: temperature && Math.min(temperature, 1), top_p: topP, top_k: topK })
  const allowedTopP = topP !== undefined && topP >= 0.95 ? topP : undefined
  const removed = [
    temperature !== undefined && temperature !== 1 && 'temperature',
    topP !== allowedTopP && 'top_p',
    topK !== undefined && 'top_k',
  ].filter((it) => it !== false)
  for (const name of removed) warnings.push(`${name} ignored: not supported with thinking`)
  return omitUndefined({ top_p: allowedTopP })
}

function toStopSequences(request: CanonicalRequest): string[] | undefined {
  const usable = request.stop.filter((it) => it.trim() !== '')
  if (usable.length < request.stop.length) request.warnings.push('blank stop sequence ignored')
  return usable.length > 0 ? usable : undefined
}

function toFormatFields(request: CanonicalRequest): JsonObject {
  if (request.format?.type !== 'schema') return {}
  const { schema, warnings } = closeSchema(request.format.schema)
  request.warnings.push(...warnings)
  return { format: { type: 'json_schema', schema } }
}

function toToolChoice({ toolChoice: choice, parallelToolCalls }: CanonicalRequest): JsonObject | undefined {
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  if (!choice) return parallelToolCalls === false ? { type: 'auto', ...alone } : undefined
  if (choice.type === 'tool') return { type: 'tool', name: choice.name, ...alone }
  if (choice.type === 'none') return { type: 'none' }
  return { type: choice.type === 'required' ? 'any' : 'auto', ...alone }
}

type Message = { role: 'user' | 'assistant'; content: JsonObject[] }

/** Roles must alternate, and the results of calls come first in their turn. */
function toMessages(turns: readonly Turn[]): Message[] {
  const messages: Message[] = []
  for (const turn of turns) {
    if (turn.role === 'system') continue
    const content = turn.role === 'user' ? toUserBlocks(turn) : toAssistantBlocks(turn)
    if (content.length === 0) continue
    const last = messages.at(-1)
    if (last?.role === turn.role) last.content.push(...content)
    else messages.push({ role: turn.role, content })
  }
  for (const message of messages) {
    if (message.role === 'user') message.content.sort((a, b) => getRank(a) - getRank(b))
  }
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: [{ type: 'text', text: '…' }] })
  trimEnd(messages.at(-1))
  return messages
}

function getRank(block: JsonObject): number {
  return block.type === 'tool_result' ? 0 : 1
}

/** Trims a final assistant message, because the model cannot continue a message that ends with whitespace. */
function trimEnd(message: Message | undefined): void {
  if (message?.role !== 'assistant') return
  const last = message.content.at(-1)
  if (last?.type === 'text') message.content.splice(-1, 1, { ...last, text: String(last.text).trimEnd() })
}

function toUserBlocks(turn: UserTurn): JsonObject[] {
  return turn.parts.flatMap(toUserBlock)
}

function toUserBlock(part: UserTurn['parts'][number]): JsonObject[] {
  switch (part.type) {
    case 'text':
      return isNotBlank(part) ? [toTextBlock(part)] : []
    case 'image':
      return [toImageBlock(part)]
    case 'file': {
      const source = { type: 'base64', media_type: part.mediaType, data: part.base64 }
      return [omitUndefined({ type: 'document', source, title: part.name })]
    }
    case 'result':
      return [toResultBlock(part)]
  }
}

function toResultBlock(part: ToolResultPart): JsonObject {
  const content = part.parts.flatMap((value) => {
    if (value.type === 'image') return [toImageBlock(value)]
    return isNotBlank(value) ? [toTextBlock(value)] : []
  })
  return omitUndefined({
    type: 'tool_result',
    tool_use_id: toToolUseId(part.callId),
    content: content.length > 0 ? content : undefined,
    is_error: part.failed ? true : undefined,
    cache_control: toCacheField(part.cache),
  })
}

function toAssistantBlocks(turn: AssistantTurn): JsonObject[] {
  return turn.parts.flatMap(toAssistantBlock)
}

/** Drops thinking without a signature or with one of another provider, which this provider rejects. */
function toAssistantBlock(part: AssistantTurn['parts'][number]): JsonObject[] {
  switch (part.type) {
    case 'text':
      return isNotBlank(part) ? [toTextBlock(part)] : []
    case 'thinking':
      if (part.signature?.origin !== 'anthropic') return []
      return [{ type: 'thinking', thinking: part.text, signature: part.signature.value }]
    case 'redacted':
      return part.sealed.origin === 'anthropic' ? [{ type: 'redacted_thinking', data: part.sealed.value }] : []
    case 'call': {
      // Malformed arguments are returned as Anthropic documents, so that the model sees what it wrote.
      const input = parseJsonObject(part.arguments === '' ? '{}' : part.arguments) ?? { INVALID_JSON: part.arguments }
      return [{ type: 'tool_use', id: toToolUseId(part.id), name: part.name, input }]
    }
  }
}

/**
 * Ids may contain only letters, digits, `_` and `-`. Other characters are replaced by their code, so that ids stay
 * distinct.
 */
function toToolUseId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`)
}

function toTextBlock(part: TextPart): JsonObject {
  return omitUndefined({ type: 'text', text: part.text, cache_control: toCacheField(part.cache) })
}

function toImageBlock({ source, cache }: ImagePart): JsonObject {
  const field =
    source.kind === 'url'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: source.mediaType, data: source.base64 }
  return omitUndefined({ type: 'image', source: field, cache_control: toCacheField(cache) })
}

function toCacheField(cache: CacheMark | undefined): JsonObject | undefined {
  if (!cache) return undefined
  return cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function isNotBlank(part: TextPart): boolean {
  return part.text.trim() !== ''
}
