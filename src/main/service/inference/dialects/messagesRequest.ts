import { joinedResults } from '../callResults.ts'
import { badRequest } from '../inferenceError.ts'
import type {
  AnswerFormat,
  AssistantPart,
  FilePart,
  ImagePart,
  InnerRequest,
  Reasoning,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../innerForm.ts'
import { type Loose, objectAt, textAt } from '../looseJson.ts'
import { cacheOf } from './chatRequest.ts'
import { imageData, imageSource } from './imageSource.ts'
import {
  asObject,
  effortField,
  flagField,
  listField,
  neededMessages,
  neededText,
  numberField,
  objectField,
  samplingOf,
  stopField,
  textField,
  wholeField,
} from './requestFields.ts'
import { isSealedParts, type SealedPart, unsealedParts, withSignatures } from './sealedParts.ts'

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
export function messagesRequest(body: Loose): InnerRequest {
  const maxOutputTokens = wholeField(body, 'max_tokens', 1)
  if (maxOutputTokens === undefined)
    throw badRequest('max_tokens', '`max_tokens` is required.', 'missing_required_parameter')
  return { ...countedRequest(body), maxOutputTokens }
}

/** Without `max_tokens`, as its tokens are counted. */
export function countedRequest(body: Loose): InnerRequest {
  const model = neededText(body, 'model')
  const messages = neededMessages(body, 'messages')
  const warnings: string[] = []
  const tools = toolsOf(listField(body, 'tools') ?? [], warnings)
  const choice = objectField(body, 'tool_choice')
  const outputConfig = objectField(body, 'output_config') ?? {}
  return {
    model,
    stream: flagField(body, 'stream') ?? false,
    turns: joinedResults([
      ...systemTurns(body.system),
      ...messages.map((it, at) => turnOf(asObject(it, `messages[${at}]`), { param: `messages[${at}]`, warnings })),
    ]),
    tools,
    toolChoice: tools.length > 0 ? toolChoiceOf(choice, tools) : undefined,
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
    maxOutputTokens: undefined,
    sampling: samplingOf({
      temperature: numberField(body, 'temperature', { min: 0, max: 1 }),
      topP: numberField(body, 'top_p', { min: 0, max: 1 }),
      topK: wholeField(body, 'top_k', 0),
    }),
    stop: stopField(body, 'stop_sequences'),
    format: formatOf(objectField(outputConfig, 'format', 'output_config.format')),
    reasoning: reasoningOf(body, outputConfig),
    verbosity: undefined,
    promptCacheKey: undefined,
    cache: cacheOf(body),
    user: textAt(objectAt(body, 'metadata'), 'user_id'),
    warnings,
  }
}

type Place = { param: string; warnings: string[] }

function systemTurns(system: unknown): Turn[] {
  if (system === undefined || system === null) return []
  if (typeof system === 'string') return [{ role: 'system', developer: false, parts: [{ type: 'text', text: system }] }]
  if (!Array.isArray(system)) throw badRequest('system', '`system` must be a string or a list of text blocks.')
  const parts = system.map((it: unknown, at) => textOf(asObject(it, `system[${at}]`), `system[${at}]`))
  return [{ role: 'system', developer: false, parts }]
}

function turnOf(message: Loose, place: Place): Turn {
  const role = neededText(message, 'role', `${place.param}.role`)
  const param = `${place.param}.content`
  const content = message.content
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw badRequest(param, `\`${param}\` must be a string or a list of blocks.`)
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const each = <T>(read: (block: Loose, place: Place) => T[]): T[] =>
    blocks.flatMap((it: unknown, at) => {
      const inner = `${param}[${at}]`
      return read(asObject(it, inner), { ...place, param: inner })
    })
  if (role === 'user') return { role, parts: each(userParts) }
  if (role === 'assistant') return { role, parts: withSignatures(each(assistantParts)) }
  if (role === 'system') return { role, developer: false, parts: each((block, { param: at }) => [textOf(block, at)]) }
  throw badRequest(`${place.param}.role`, `${JSON.stringify(role)} is no role of a message.`)
}

function textOf(block: Loose, param: string): TextPart {
  if (block.type !== 'text') throw badRequest(`${param}.type`, `\`${param}\` must be a text block.`)
  return { type: 'text', text: textField(block, 'text', `${param}.text`) ?? '', cache: cacheOf(block) }
}

function userParts(block: Loose, { param, warnings }: Place): (TextPart | ImagePart | FilePart | ToolResultPart)[] {
  switch (block.type) {
    case 'text':
      return [textOf(block, param)]
    case 'image':
      return [imageOf(block, param)]
    case 'document':
      return documentOf(block, param)
    case 'tool_result':
      return [resultOf(block, { param, warnings })]
    default:
      warnings.push(`a block of type ${String(block.type)} was left out`)
      return []
  }
}

function imageOf(block: Loose, param: string): ImagePart {
  const source = asObject(block.source, `${param}.source`)
  const cache = cacheOf(block)
  if (source.type === 'url') {
    const url = neededText(source, 'url', `${param}.source.url`)
    return { type: 'image', source: imageSource(url, `${param}.source.url`), cache }
  }
  if (source.type !== 'base64') {
    throw badRequest(`${param}.source.type`, 'An image must have a source of type base64 or url.', 'unsupported')
  }
  const mediaType = neededText(source, 'media_type', `${param}.source.media_type`)
  const data = neededText(source, 'data', `${param}.source.data`)
  return { type: 'image', source: imageData(mediaType, data, `${param}.source`), cache }
}

function documentOf(block: Loose, param: string): (TextPart | FilePart)[] {
  const source = asObject(block.source, `${param}.source`)
  const name = textAt(block, 'title')
  if (source.type === 'text') return [{ type: 'text', text: textAt(source, 'data') ?? '', cache: cacheOf(block) }]
  if (source.type !== 'base64') {
    throw badRequest(`${param}.source.type`, 'A document must have a source of type base64 or text.', 'unsupported')
  }
  const base64 = neededText(source, 'data', `${param}.source.data`)
  return [{ type: 'file', name, mediaType: textAt(source, 'media_type') ?? 'application/pdf', base64 }]
}

function resultOf(block: Loose, { param, warnings }: Place): ToolResultPart {
  const { content } = block
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : (listField(block, 'content', param) ?? [])
  const parts = blocks.flatMap((it, at) => {
    const inner = `${param}.content[${at}]`
    return userParts(asObject(it, inner), { param: inner, warnings })
  })
  return {
    type: 'result',
    callId: neededText(block, 'tool_use_id', `${param}.tool_use_id`),
    name: '',
    parts: parts.filter((part) => part.type === 'text' || part.type === 'image'),
    failed: block.is_error === true,
    cache: cacheOf(block),
  }
}

type Signed = AssistantPart | Extract<SealedPart, { type: 'signature' }>

function assistantParts(block: Loose, { param, warnings }: Place): Signed[] {
  switch (block.type) {
    case 'text':
      return [textOf(block, param)]
    case 'thinking': {
      const value = textAt(block, 'signature') ?? ''
      // Thinking that nobody signed has a mark of ours in the place of a signature.
      const signature = value === '' || isSealedParts(value) ? undefined : { origin: 'anthropic' as const, value }
      return [{ type: 'thinking', text: textAt(block, 'thinking') ?? '', signature }]
    }
    case 'redacted_thinking': {
      const value = textAt(block, 'data') ?? ''
      return isSealedParts(value)
        ? unsealedParts(value)
        : [{ type: 'redacted', sealed: { origin: 'anthropic', value } }]
    }
    case 'tool_use':
      return [
        {
          type: 'call',
          id: neededText(block, 'id', `${param}.id`),
          name: neededText(block, 'name', `${param}.name`),
          arguments: JSON.stringify(block.input ?? {}),
        },
      ]
    default:
      warnings.push(`a block of type ${String(block.type)} was left out`)
      return []
  }
}

function toolsOf(list: readonly unknown[], warnings: string[]): Tool[] {
  return list.flatMap((it, at) => {
    const param = `tools[${at}]`
    const tool = asObject(it, param)
    if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
      warnings.push(`a tool of type ${String(tool.type)} was left out`)
      return []
    }
    return [
      {
        name: neededText(tool, 'name', `${param}.name`),
        description: textField(tool, 'description', `${param}.description`),
        parameters: asObject(tool.input_schema, `${param}.input_schema`),
        strict: flagField(tool, 'strict'),
        cache: cacheOf(tool),
      },
    ]
  })
}

function toolChoiceOf(choice: Loose | undefined, tools: readonly Tool[]): ToolChoice | undefined {
  if (!choice) return undefined
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const name = neededText(choice, 'name', 'tool_choice.name')
      if (tools.some((tool) => tool.name === name)) return { type: 'tool', name }
      throw badRequest('tool_choice.name', `\`tool_choice\` names ${JSON.stringify(name)}, which is none of the tools.`)
    }
    default:
      throw badRequest('tool_choice.type', '`tool_choice.type` must be auto, any, tool or none.')
  }
}

function formatOf(format: Loose | undefined): AnswerFormat | undefined {
  if (!format) return undefined
  if (format.type !== 'json_schema')
    throw badRequest('output_config.format.type', 'The format must be of type json_schema.')
  const schema = asObject(format.schema, 'output_config.format.schema')
  return { type: 'schema', name: 'answer', description: undefined, schema, strict: true }
}

function reasoningOf(body: Loose, outputConfig: Loose): Reasoning | undefined {
  const thinking = objectField(body, 'thinking')
  const effort = effortField(outputConfig, 'effort', 'output_config.effort')
  if (thinking?.type === 'disabled') return { effort: 'none' }
  if (thinking?.type === 'enabled') {
    const budgetTokens = wholeField(thinking, 'budget_tokens', 1_024)
    if (budgetTokens === undefined) throw badRequest('thinking.budget_tokens', '`thinking.budget_tokens` is required.')
    return { budgetTokens }
  }
  if (thinking?.type === 'adaptive') return { effort: effort ?? 'high' }
  return undefined
}
