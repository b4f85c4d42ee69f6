import { mergeToolResults } from '../canonical/callResults.ts'
import type {
  AnswerFormat,
  AssistantPart,
  AssistantTurn,
  CacheMark,
  CanonicalRequest,
  FilePart,
  ImagePart,
  Origin,
  Reasoning,
  Signature,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
} from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { getList, getObject, getString, type JsonObject, toJsonObject } from '../json.ts'
import { parseDataUrl, parseImageSource } from './imageSource.ts'
import {
  listField,
  readEffort,
  readFlag,
  readInteger,
  readNumberField,
  readObject,
  readSampling,
  readTextField,
  readVerbosity,
  requireMessages,
  requireObject,
  requireText,
  stopField,
} from './requestFields.ts'

/** Fields that are read below or have no meaning for other providers. */
export const translatedChatFields = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'verbosity',
  'prompt_cache_key',
  'cache_control',
  'user',
  'store',
  'metadata',
  'service_tier',
  'safety_identifier',
  'prompt_cache_retention',
]

/** @see https://platform.openai.com/docs/api-reference/chat/create */
export function parseChatRequest(body: JsonObject): CanonicalRequest {
  const model = requireText(body, 'model')
  const messages = requireMessages(body, 'messages')
  const n = readInteger(body, 'n', 1)
  if (n !== undefined && n > 1)
    throw createBadRequestError('n', 'Only one choice is supported: `n` must be 1.', 'unsupported_value')
  if (listField(body, 'functions') || body.function_call) {
    throw createBadRequestError('functions', '`functions` is deprecated. Use `tools`.', 'unsupported_parameter')
  }
  const warnings: string[] = []
  const tools = toTools(listField(body, 'tools') ?? [], warnings)
  return {
    model,
    stream: readFlag(body, 'stream') ?? false,
    turns: mergeToolResults(
      messages.flatMap((message, index) => toTurns(requireObject(message, `messages[${index}]`), `messages[${index}]`)),
    ),
    tools,
    toolChoice: toToolChoice(body.tool_choice ?? undefined, tools),
    parallelToolCalls: readFlag(body, 'parallel_tool_calls'),
    maxOutputTokens: readInteger(body, 'max_completion_tokens', 1) ?? readInteger(body, 'max_tokens', 1),
    sampling: readSampling({
      temperature: readNumberField(body, 'temperature', { min: 0, max: 2 }),
      topP: readNumberField(body, 'top_p', { min: 0, max: 1 }),
      topK: readInteger(body, 'top_k', 0),
      seed: readInteger(body, 'seed', Number.MIN_SAFE_INTEGER),
      presencePenalty: readNumberField(body, 'presence_penalty', { min: -2, max: 2 }),
      frequencyPenalty: readNumberField(body, 'frequency_penalty', { min: -2, max: 2 }),
    }),
    stop: stopField(body, 'stop'),
    format: toFormat(readObject(body, 'response_format')),
    reasoning: toReasoning(body),
    verbosity: readVerbosity(body, 'verbosity'),
    promptCacheKey: readTextField(body, 'prompt_cache_key'),
    cache: parseCacheTtl(body),
    user: readTextField(body, 'user'),
    warnings,
  }
}

export function isUsageRequested(body: JsonObject): boolean {
  return getObject(body, 'stream_options').include_usage === true
}

function toTurns(message: JsonObject, param: string): Turn[] {
  const role = requireText(message, 'role', `${param}.role`)
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', developer: role === 'developer', parts: toTexts(message.content, `${param}.content`) }]
    case 'user': {
      const parts = toParts(message.content, `${param}.content`)
      return [{ role: 'user', parts }]
    }
    case 'assistant':
      return [toAssistantTurn(message, param)]
    case 'tool': {
      const parts = toParts(message.content, `${param}.content`).filter((part) => part.type !== 'file')
      const callId = requireText(message, 'tool_call_id', `${param}.tool_call_id`)
      const name = getString(message, 'name') ?? ''
      return [{ role: 'user', parts: [{ type: 'result', callId, name, parts, failed: false }] }]
    }
    default:
      throw createBadRequestError(`${param}.role`, `${JSON.stringify(role)} is not a valid message role.`)
  }
}

function toTexts(content: unknown, param: string): TextPart[] {
  const parts = toParts(content, param)
  return parts.map((part) => {
    if (part.type !== 'text') throw createBadRequestError(param, `\`${param}\` must be text.`)
    return part
  })
}

export function toParts(content: unknown, param: string): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) throw createBadRequestError(param, `\`${param}\` must be a string or a list of parts.`)
  return content.map((part: unknown, index) => toPart(requireObject(part, `${param}[${index}]`), `${param}[${index}]`))
}

function toPart(part: JsonObject, param: string): TextPart | ImagePart | FilePart {
  const cache = parseCacheTtl(part)
  switch (part.type) {
    case 'text':
      return { type: 'text', text: readTextField(part, 'text', `${param}.text`) ?? '', cache }
    case 'refusal':
      return { type: 'text', text: getString(part, 'refusal') ?? '' }
    case 'image_url': {
      const url =
        getString(part, 'image_url') ?? requireText(getObject(part, 'image_url'), 'url', `${param}.image_url.url`)
      const detail = getString(getObject(part, 'image_url'), 'detail')
      return { type: 'image', source: parseImageSource(url, `${param}.image_url.url`), detail, cache }
    }
    case 'file': {
      const file = getObject(part, 'file')
      const data = parseDataUrl(requireText(file, 'file_data', `${param}.file.file_data`), `${param}.file.file_data`)
      return { type: 'file', name: getString(file, 'filename'), ...data }
    }
    default:
      throw createBadRequestError(
        `${param}.type`,
        `Parts of type ${JSON.stringify(part.type)} are not supported.`,
        'unsupported',
      )
  }
}

function toAssistantTurn(message: JsonObject, param: string): AssistantTurn {
  const texts = toTexts(message.content, `${param}.content`).filter((part) => part.text !== '')
  const signature = readGoogleSignature(message)
  const [first] = texts
  if (first && signature) first.signature = signature
  const refusal = getString(message, 'refusal')
  const calls = (listField(message, 'tool_calls', `${param}.tool_calls`) ?? []).map((call, index) =>
    toCall(requireObject(call, `${param}.tool_calls[${index}]`), `${param}.tool_calls[${index}]`),
  )
  return {
    role: 'assistant',
    parts: [...toThinking(message), ...texts, ...(refusal ? [{ type: 'text' as const, text: refusal }] : []), ...calls],
  }
}

function toCall(call: JsonObject, param: string): AssistantPart {
  const named = requireObject(call.function, `${param}.function`)
  const text = named.arguments ?? ''
  return {
    type: 'call',
    id: requireText(call, 'id', `${param}.id`),
    name: requireText(named, 'name', `${param}.function.name`),
    arguments: typeof text === 'string' ? text : JSON.stringify(text),
    signature: readGoogleSignature(call),
  }
}

/**
 * Reads the signature from the field that Google's own chat completions use:
 * https://ai.google.dev/gemini-api/docs/thought-signatures#openai
 */
function readGoogleSignature(carrier: JsonObject): Signature | undefined {
  const value = getString(getObject(getObject(carrier, 'extra_content'), 'google'), 'thought_signature')
  return value === undefined ? undefined : { origin: 'gemini', value }
}

export const formatOfOrigin: Readonly<Record<Origin, string>> = {
  anthropic: 'anthropic-claude-v1',
  gemini: 'google-gemini-v1',
  openai: 'openai-responses-v1',
}

/** Signed thinking returns in `reasoning_details`, one entry per block. Otherwise only its text is available. */
function toThinking(message: JsonObject): AssistantPart[] {
  const details = getList(message, 'reasoning_details').flatMap((value) => toDetails(toJsonObject(value) ?? {}))
  if (details.length > 0) return details
  const blocks = getList(message, 'thinking_blocks').flatMap((value) => toBlocks(toJsonObject(value) ?? {}))
  if (blocks.length > 0) return blocks
  const text = getString(message, 'reasoning_content') ?? getString(message, 'reasoning')
  return text ? [{ type: 'thinking', text }] : []
}

function toDetails(detail: JsonObject): AssistantPart[] {
  const format = getString(detail, 'format')
  const origin = (Object.keys(formatOfOrigin) as Origin[]).find((it) => formatOfOrigin[it] === format) ?? 'anthropic'
  if (detail.type === 'reasoning.encrypted') {
    const value = getString(detail, 'data')
    return value === undefined ? [] : [{ type: 'redacted', sealed: { origin, value } }]
  }
  if (detail.type !== 'reasoning.text') return []
  const value = getString(detail, 'signature')
  return [
    {
      type: 'thinking',
      text: getString(detail, 'text') ?? '',
      signature: value === undefined ? undefined : { origin, value },
    },
  ]
}

function toBlocks(block: JsonObject): AssistantPart[] {
  if (block.type === 'redacted_thinking') {
    return [{ type: 'redacted', sealed: { origin: 'anthropic', value: getString(block, 'data') ?? '' } }]
  }
  const value = getString(block, 'signature')
  const signature = value === undefined ? undefined : { origin: 'anthropic' as const, value }
  return block.type === 'thinking' ? [{ type: 'thinking', text: getString(block, 'thinking') ?? '', signature }] : []
}

function toTools(list: readonly unknown[], warnings: string[]): Tool[] {
  return list.flatMap((it, index) => {
    const param = `tools[${index}]`
    const tool = requireObject(it, param)
    if (tool.type !== undefined && tool.type !== 'function') {
      warnings.push(`tool of type ${String(tool.type)} ignored`)
      return []
    }
    const named = requireObject(tool.function, `${param}.function`)
    return [
      {
        name: requireText(named, 'name', `${param}.function.name`),
        description: readTextField(named, 'description', `${param}.function.description`),
        parameters: readObject(named, 'parameters', `${param}.function.parameters`),
        strict: readFlag(named, 'strict'),
        cache: parseCacheTtl(tool) ?? parseCacheTtl(named),
      },
    ]
  })
}

function toToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || tools.length === 0) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const name = getString(getObject(choice, 'function'), 'name')
  if (name === undefined)
    throw createBadRequestError('tool_choice', '`tool_choice` must be auto, none, required or a function.')
  if (!tools.some((tool) => tool.name === name)) {
    throw createBadRequestError(
      'tool_choice',
      `\`tool_choice\` names ${JSON.stringify(name)}, which is not in \`tools\`.`,
    )
  }
  return { type: 'tool', name }
}

function toFormat(format: JsonObject | undefined): AnswerFormat | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') {
    throw createBadRequestError(
      'response_format.type',
      '`response_format.type` must be text, json_object or json_schema.',
    )
  }
  const schema = requireObject(format.json_schema, 'response_format.json_schema')
  return {
    type: 'schema',
    name: requireText(schema, 'name', 'response_format.json_schema.name'),
    description: getString(schema, 'description'),
    schema: requireObject(schema.schema ?? {}, 'response_format.json_schema.schema'),
    strict: readFlag(schema, 'strict'),
  }
}

function toReasoning(body: JsonObject): Reasoning | undefined {
  const reasoning = readObject(body, 'reasoning') ?? {}
  const effort = readEffort(body, 'reasoning_effort') ?? readEffort(reasoning, 'effort', 'reasoning.effort')
  const budgetTokens = readInteger(reasoning, 'max_tokens', 0)
  if (budgetTokens !== undefined) return { budgetTokens }
  return effort === undefined ? undefined : { effort }
}

export function parseCacheTtl(carrier: JsonObject): CacheMark | undefined {
  const mark = toJsonObject(carrier.cache_control)
  if (!mark) return undefined
  return mark.ttl === '1h' ? '1h' : '5m'
}
