import { mergeToolResults } from '../canonical/callResults.ts'
import type {
  AnswerFormat,
  AssistantPart,
  AssistantTurn,
  CanonicalRequest,
  FilePart,
  ImagePart,
  TextPart,
  Turn,
} from '../canonical/canonical.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { getList, getObject, getString, type JsonObject, toJsonObject } from '../json.ts'
import { createUnknownItemError } from '../responseItems.ts'
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
  requireObject,
  requireText,
} from './requestFields.ts'
import { parseResponsesToolChoice, parseResponsesTools, toCanonicalName } from './responsesTools.ts'
import { isSealedParts, type SealedPart, unsealParts, withSignatures } from './sealParts.ts'

export const translatedResponsesFields = [
  'model',
  'input',
  'instructions',
  'stream',
  'stream_options',
  'store',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'prompt_cache_key',
  'prompt_cache_retention',
  'user',
  'metadata',
  'include',
  'client_metadata',
  'truncation',
  'service_tier',
  'safety_identifier',
  'background',
  'previous_response_id',
  'conversation',
]

/** Rejects fields that require stored responses, which a stateless gateway does not have. */
function rejectStoredState(body: JsonObject): void {
  const refuse = (param: string, why: string) => createBadRequestError(param, why, 'unsupported_parameter')
  if (body.store === true) throw refuse('store', 'Steward stores no responses: `store` must be false or absent.')
  if (body.previous_response_id) {
    throw refuse('previous_response_id', 'Steward stores no conversations: send the whole conversation in `input`.')
  }
  if (body.conversation)
    throw refuse('conversation', 'Steward stores no conversations: send the whole conversation in `input`.')
  if (body.background === true)
    throw refuse('background', '`background` is not supported: Steward stores no responses.')
  if (body.prompt) throw refuse('prompt', 'Prompts are not stored: send `instructions` and `input`.')
}

/** @see https://platform.openai.com/docs/api-reference/responses/create */
export function parseResponsesRequest(body: JsonObject): CanonicalRequest {
  const model = requireText(body, 'model')
  rejectStoredState(body)
  const warnings: string[] = []
  const tools = parseResponsesTools(listField(body, 'tools') ?? [], warnings)
  const instructions = readTextField(body, 'instructions')
  const reasoning = readObject(body, 'reasoning') ?? {}
  const effort = readEffort(reasoning, 'effort', 'reasoning.effort')
  const text = readObject(body, 'text') ?? {}
  return {
    model,
    stream: readFlag(body, 'stream') ?? false,
    turns: mergeToolResults([
      ...(instructions ? [toSystemTurn([{ type: 'text', text: instructions }], false)] : []),
      ...toInputTurns(body.input ?? undefined, warnings),
    ]),
    tools: tools.map(({ tool }) => tool),
    toolChoice: parseResponsesToolChoice(body.tool_choice, tools, warnings),
    parallelToolCalls: readFlag(body, 'parallel_tool_calls'),
    maxOutputTokens: readInteger(body, 'max_output_tokens', 1),
    sampling: readSampling({
      temperature: readNumberField(body, 'temperature', { min: 0, max: 2 }),
      topP: readNumberField(body, 'top_p', { min: 0, max: 1 }),
    }),
    stop: [],
    format: toFormat(readObject(text, 'format', 'text.format')),
    reasoning: effort === undefined ? undefined : { effort },
    verbosity: readVerbosity(text, 'verbosity', 'text.verbosity'),
    promptCacheKey: readTextField(body, 'prompt_cache_key'),
    cache: undefined,
    user: readTextField(body, 'user'),
    warnings,
  }
}

function toSystemTurn(parts: TextPart[], developer: boolean): Turn {
  return { role: 'system', developer, parts }
}

function toInputTurns(input: unknown, warnings: string[]): Turn[] {
  if (typeof input === 'string') return [{ role: 'user', parts: [{ type: 'text', text: input }] }]
  if (input === undefined) throw createBadRequestError('input', '`input` is required.', 'missing_required_parameter')
  if (!Array.isArray(input)) throw createBadRequestError('input', '`input` must be a string or a list of items.')
  if (input.length === 0) throw createBadRequestError('input', '`input` must not be empty.', 'empty_array')
  const turns: Turn[] = []
  /** Consecutive items of the model form one turn. */
  let open: (AssistantPart | Extract<SealedPart, { type: 'signature' }>)[] = []
  const close = () => {
    const turn: AssistantTurn = { role: 'assistant', parts: withSignatures(open) }
    open = []
    if (turn.parts.length > 0) turns.push(turn)
  }
  for (const [index, it] of input.entries()) {
    const item = requireObject(it, `input[${index}]`)
    const ofModel = toModelParts(item, { param: `input[${index}]`, warnings })
    if (ofModel) {
      open.push(...ofModel)
      continue
    }
    close()
    turns.push(...toTurns(item, { param: `input[${index}]`, warnings }))
  }
  close()
  return turns
}

type FieldContext = { param: string; warnings: string[] }

/** @returns undefined for items that the model did not write */
function toModelParts(
  item: JsonObject,
  { param, warnings }: FieldContext,
): (AssistantPart | Extract<SealedPart, { type: 'signature' }>)[] | undefined {
  switch (item.type) {
    case undefined:
    case null:
      if (item.role === undefined || item.role === null) throw createUnknownItemError(param)
      return item.role === 'assistant' ? toOutputTexts(item.content, `${param}.content`) : undefined
    case 'message':
      return item.role === 'assistant' ? toOutputTexts(item.content, `${param}.content`) : undefined
    case 'function_call':
      return [
        {
          type: 'call',
          id: requireText(item, 'call_id', `${param}.call_id`),
          name: toCanonicalName(
            readTextField(item, 'namespace', `${param}.namespace`),
            requireText(item, 'name', `${param}.name`),
          ),
          arguments: readTextField(item, 'arguments', `${param}.arguments`) ?? '',
        },
      ]
    case 'custom_tool_call':
      return [
        {
          type: 'call',
          id: requireText(item, 'call_id', `${param}.call_id`),
          name: toCanonicalName(
            readTextField(item, 'namespace', `${param}.namespace`),
            requireText(item, 'name', `${param}.name`),
          ),
          arguments: JSON.stringify({ input: readTextField(item, 'input', `${param}.input`) ?? '' }),
        },
      ]
    case 'reasoning':
      return toReasoningParts(item)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return undefined
    case 'item_reference':
      throw createUnknownItemError(param)
    default:
      warnings.push(`item of type ${String(item.type)} ignored`)
      return []
  }
}

/** Encrypted content is complete; the summary is for display. */
function toReasoningParts(item: JsonObject): (AssistantPart | Extract<SealedPart, { type: 'signature' }>)[] {
  const sealed = getString(item, 'encrypted_content')
  if (sealed !== undefined && isSealedParts(sealed)) return unsealParts(sealed)
  if (sealed !== undefined) return [{ type: 'redacted', sealed: { origin: 'openai', value: JSON.stringify(item) } }]
  const texts = [...getList(item, 'summary'), ...getList(item, 'content')].map((it) => getString(it, 'text') ?? '')
  const text = texts.filter((it) => it !== '').join('\n\n')
  return text === '' ? [] : [{ type: 'thinking', text }]
}

function toOutputTexts(content: unknown, param: string): TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw createBadRequestError(param, `\`${param}\` must be a string or a list of parts.`)
  return content.flatMap((value: unknown) => {
    const text = getString(value, 'text') ?? getString(value, 'refusal') ?? ''
    return text === '' ? [] : [{ type: 'text' as const, text }]
  })
}

function toTurns(item: JsonObject, { param, warnings }: FieldContext): Turn[] {
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
    const callId = requireText(item, 'call_id', `${param}.call_id`)
    const parts = toInputParts(item.output, { param: `${param}.output`, warnings })
    return [
      {
        role: 'user',
        parts: [{ type: 'result', callId, name: '', parts: parts.filter((it) => it.type !== 'file'), failed: false }],
      },
    ]
  }
  const role = requireText(item, 'role', `${param}.role`)
  const parts = toInputParts(item.content, { param: `${param}.content`, warnings })
  switch (role) {
    case 'user':
      return [{ role, parts }]
    case 'system':
    case 'developer':
      return [
        toSystemTurn(
          parts.filter((part) => part.type === 'text'),
          role === 'developer',
        ),
      ]
    default:
      throw createBadRequestError(`${param}.role`, `${JSON.stringify(role)} is not a valid message role.`)
  }
}

function toInputParts(content: unknown, { param, warnings }: FieldContext): (TextPart | ImagePart | FilePart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content === undefined || content === null) return []
  if (!Array.isArray(content)) throw createBadRequestError(param, `\`${param}\` must be a string or a list of parts.`)
  return content.flatMap((it: unknown, index) =>
    toPart(requireObject(it, `${param}[${index}]`), { param: `${param}[${index}]`, warnings }),
  )
}

function toPart(part: JsonObject, { param, warnings }: FieldContext): (TextPart | ImagePart | FilePart)[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return [{ type: 'text', text: readTextField(part, 'text', `${param}.text`) ?? '' }]
    case 'input_image': {
      const url = getString(part, 'image_url') ?? getString(getObject(part, 'image_url'), 'url')
      if (url === undefined)
        throw createBadRequestError(`${param}.image_url`, 'Files are not stored: send the image itself.')
      return [{ type: 'image', source: parseImageSource(url, `${param}.image_url`), detail: getString(part, 'detail') }]
    }
    case 'input_file': {
      const data = getString(part, 'file_data')
      if (data === undefined)
        throw createBadRequestError(`${param}.file_data`, 'Files are not stored: send the file itself.')
      return [{ type: 'file', name: getString(part, 'filename'), ...parseDataUrl(data, `${param}.file_data`) }]
    }
    default:
      warnings.push(`part of type ${String(part.type)} ignored`)
      return []
  }
}

function toFormat(format: JsonObject | undefined): AnswerFormat | undefined {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json' }
  if (format.type !== 'json_schema') {
    throw createBadRequestError('text.format.type', '`text.format.type` must be text, json_object or json_schema.')
  }
  return {
    type: 'schema',
    name: requireText(format, 'name', 'text.format.name'),
    description: getString(format, 'description'),
    schema: toJsonObject(format.schema) ?? {},
    strict: readFlag(format, 'strict'),
  }
}
