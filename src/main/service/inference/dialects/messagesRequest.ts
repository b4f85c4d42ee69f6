import { mergeToolResults } from '../canonical/callResults.ts'
import type {
  AnswerFormat,
  AssistantPart,
  CanonicalRequest,
  FilePart,
  ImagePart,
  Reasoning,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { getObject, getString, type JsonObject } from '../json.ts'
import { parseCacheTtl } from './chatRequest.ts'
import { parseImageSource, readImageData } from './imageSource.ts'
import {
  listField,
  readEffort,
  readFlag,
  readInteger,
  readNumberField,
  readObject,
  readSampling,
  readTextField,
  requireMessages,
  requireObject,
  requireText,
  stopField,
} from './requestFields.ts'
import { isSealedParts, type SealedPart, unsealParts, withSignatures } from './sealParts.ts'

export const translatedMessagesFields = [
  'model',
  'messages',
  'max_tokens',
  'system',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
  'cache_control',
  'service_tier',
  'inference_geo',
]

/** @see https://docs.anthropic.com/en/api/messages */
export function parseMessagesRequest(body: JsonObject): CanonicalRequest {
  const maxOutputTokens = readInteger(body, 'max_tokens', 1)
  if (maxOutputTokens === undefined)
    throw createBadRequestError('max_tokens', '`max_tokens` is required.', 'missing_required_parameter')
  return { ...readCountRequest(body), maxOutputTokens }
}

/** Reads a request to count tokens, which has no `max_tokens`. */
export function readCountRequest(body: JsonObject): CanonicalRequest {
  const model = requireText(body, 'model')
  const messages = requireMessages(body, 'messages')
  const warnings: string[] = []
  const tools = toTools(listField(body, 'tools') ?? [], warnings)
  const choice = readObject(body, 'tool_choice')
  const outputConfig = readObject(body, 'output_config') ?? {}
  return {
    model,
    stream: readFlag(body, 'stream') ?? false,
    turns: mergeToolResults([
      ...toSystemTurns(body.system),
      ...messages.map((message, index) =>
        toTurn(requireObject(message, `messages[${index}]`), { param: `messages[${index}]`, warnings }),
      ),
    ]),
    tools,
    toolChoice: tools.length > 0 ? toToolChoice(choice, tools) : undefined,
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
    maxOutputTokens: undefined,
    sampling: readSampling({
      temperature: readNumberField(body, 'temperature', { min: 0, max: 1 }),
      topP: readNumberField(body, 'top_p', { min: 0, max: 1 }),
      topK: readInteger(body, 'top_k', 0),
    }),
    stop: stopField(body, 'stop_sequences'),
    format: toFormat(readObject(outputConfig, 'format', 'output_config.format')),
    reasoning: toReasoning(body, outputConfig),
    verbosity: undefined,
    promptCacheKey: undefined,
    cache: parseCacheTtl(body),
    user: getString(getObject(body, 'metadata'), 'user_id'),
    warnings,
  }
}

type FieldContext = { param: string; warnings: string[] }

function toSystemTurns(system: unknown): Turn[] {
  if (system === undefined || system === null) return []
  if (typeof system === 'string') return [{ role: 'system', developer: false, parts: [{ type: 'text', text: system }] }]
  if (!Array.isArray(system))
    throw createBadRequestError('system', '`system` must be a string or a list of text blocks.')
  const parts = system.map((block: unknown, index) =>
    toText(requireObject(block, `system[${index}]`), `system[${index}]`),
  )
  return [{ role: 'system', developer: false, parts }]
}

function toTurn(message: JsonObject, context: FieldContext): Turn {
  const role = requireText(message, 'role', `${context.param}.role`)
  const param = `${context.param}.content`
  const content = message.content
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw createBadRequestError(param, `\`${param}\` must be a string or a list of blocks.`)
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const each = <T>(read: (block: JsonObject, context: FieldContext) => T[]): T[] =>
    blocks.flatMap((it: unknown, index) => {
      const inner = `${param}[${index}]`
      return read(requireObject(it, inner), { ...context, param: inner })
    })
  if (role === 'user') return { role, parts: each(toUserParts) }
  if (role === 'assistant') return { role, parts: withSignatures(each(toAssistantParts)) }
  if (role === 'system')
    return { role, developer: false, parts: each((block, { param: index }) => [toText(block, index)]) }
  throw createBadRequestError(`${context.param}.role`, `${JSON.stringify(role)} is not a valid message role.`)
}

function toText(block: JsonObject, param: string): TextPart {
  if (block.type !== 'text') throw createBadRequestError(`${param}.type`, `\`${param}\` must be a text block.`)
  return { type: 'text', text: readTextField(block, 'text', `${param}.text`) ?? '', cache: parseCacheTtl(block) }
}

function toUserParts(
  block: JsonObject,
  { param, warnings }: FieldContext,
): (TextPart | ImagePart | FilePart | ToolResultPart)[] {
  switch (block.type) {
    case 'text':
      return [toText(block, param)]
    case 'image':
      return [toImage(block, param)]
    case 'document':
      return toDocument(block, param)
    case 'tool_result':
      return [toResult(block, { param, warnings })]
    default:
      warnings.push(`block of type ${String(block.type)} ignored`)
      return []
  }
}

function toImage(block: JsonObject, param: string): ImagePart {
  const source = requireObject(block.source, `${param}.source`)
  const cache = parseCacheTtl(block)
  if (source.type === 'url') {
    const url = requireText(source, 'url', `${param}.source.url`)
    return { type: 'image', source: parseImageSource(url, `${param}.source.url`), cache }
  }
  if (source.type !== 'base64') {
    throw createBadRequestError(
      `${param}.source.type`,
      'An image must have a source of type base64 or url.',
      'unsupported',
    )
  }
  const mediaType = requireText(source, 'media_type', `${param}.source.media_type`)
  const data = requireText(source, 'data', `${param}.source.data`)
  return { type: 'image', source: readImageData(mediaType, data, `${param}.source`), cache }
}

function toDocument(block: JsonObject, param: string): (TextPart | FilePart)[] {
  const source = requireObject(block.source, `${param}.source`)
  const name = getString(block, 'title')
  if (source.type === 'text')
    return [{ type: 'text', text: getString(source, 'data') ?? '', cache: parseCacheTtl(block) }]
  if (source.type !== 'base64') {
    throw createBadRequestError(
      `${param}.source.type`,
      'A document must have a source of type base64 or text.',
      'unsupported',
    )
  }
  const base64 = requireText(source, 'data', `${param}.source.data`)
  return [{ type: 'file', name, mediaType: getString(source, 'media_type') ?? 'application/pdf', base64 }]
}

function toResult(block: JsonObject, { param, warnings }: FieldContext): ToolResultPart {
  const { content } = block
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (listField(block, 'content', param) ?? [])
  const parts = blocks.flatMap((it, index) => {
    const inner = `${param}.content[${index}]`
    return toUserParts(requireObject(it, inner), { param: inner, warnings })
  })
  return {
    type: 'result',
    callId: requireText(block, 'tool_use_id', `${param}.tool_use_id`),
    name: '',
    parts: parts.filter((part) => part.type === 'text' || part.type === 'image'),
    failed: block.is_error === true,
    cache: parseCacheTtl(block),
  }
}

type SignedParts = AssistantPart | Extract<SealedPart, { type: 'signature' }>

function toAssistantParts(block: JsonObject, { param, warnings }: FieldContext): SignedParts[] {
  switch (block.type) {
    case 'text':
      return [toText(block, param)]
    case 'thinking': {
      const value = getString(block, 'signature') ?? ''
      // Unsigned thinking has a marker of Steward instead of a signature.
      const signature = value === '' || isSealedParts(value) ? undefined : { origin: 'anthropic' as const, value }
      return [{ type: 'thinking', text: getString(block, 'thinking') ?? '', signature }]
    }
    case 'redacted_thinking': {
      const value = getString(block, 'data') ?? ''
      return isSealedParts(value) ? unsealParts(value) : [{ type: 'redacted', sealed: { origin: 'anthropic', value } }]
    }
    case 'tool_use':
      return [
        {
          type: 'call',
          id: requireText(block, 'id', `${param}.id`),
          name: requireText(block, 'name', `${param}.name`),
          arguments: JSON.stringify(block.input ?? {}),
        },
      ]
    default:
      warnings.push(`block of type ${String(block.type)} ignored`)
      return []
  }
}

function toTools(list: readonly unknown[], warnings: string[]): Tool[] {
  return list.flatMap((it, index) => {
    const param = `tools[${index}]`
    const tool = requireObject(it, param)
    if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
      warnings.push(`tool of type ${String(tool.type)} ignored`)
      return []
    }
    return [
      {
        name: requireText(tool, 'name', `${param}.name`),
        description: readTextField(tool, 'description', `${param}.description`),
        parameters: requireObject(tool.input_schema, `${param}.input_schema`),
        strict: readFlag(tool, 'strict'),
        cache: parseCacheTtl(tool),
      },
    ]
  })
}

function toToolChoice(choice: JsonObject | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  if (!choice) return undefined
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const name = requireText(choice, 'name', 'tool_choice.name')
      if (tools.some((tool) => tool.name === name)) return { type: 'tool', name }
      throw createBadRequestError(
        'tool_choice.name',
        `\`tool_choice\` names ${JSON.stringify(name)}, which is not in \`tools\`.`,
      )
    }
    default:
      throw createBadRequestError('tool_choice.type', '`tool_choice.type` must be auto, any, tool or none.')
  }
}

function toFormat(format: JsonObject | undefined): AnswerFormat | undefined {
  if (!format) return undefined
  if (format.type !== 'json_schema')
    throw createBadRequestError('output_config.format.type', 'The format must be of type json_schema.')
  const schema = requireObject(format.schema, 'output_config.format.schema')
  return { type: 'schema', name: 'answer', description: undefined, schema, strict: true }
}

function toReasoning(body: JsonObject, outputConfig: JsonObject): Reasoning | undefined {
  const thinking = readObject(body, 'thinking')
  const effort = readEffort(outputConfig, 'effort', 'output_config.effort')
  if (thinking?.type === 'disabled') return { effort: 'none' }
  if (thinking?.type === 'enabled') {
    const budgetTokens = readInteger(thinking, 'budget_tokens', 1_024)
    if (budgetTokens === undefined)
      throw createBadRequestError('thinking.budget_tokens', '`thinking.budget_tokens` is required.')
    return { budgetTokens }
  }
  if (thinking?.type === 'adaptive') return { effort: effort ?? 'high' }
  return undefined
}
