import type {
  AssistantTurn,
  CanonicalRequest,
  ImagePart,
  Signature,
  TextPart,
  Turn,
  UserTurn,
} from '../canonical/canonical.ts'
import { findNearestEffort, getEffort, isThinking, omitUnsupportedParameters } from '../catalogue/modelRefusals.ts'
import { createBadRequestError } from '../inferenceError.ts'
import { type JsonObject, omitUndefined, parseJsonObject, toJsonObject } from '../json.ts'
import { thinkingBudgets } from './anthropicRequest.ts'
import { toGeminiSchema } from './geminiSchema.ts'
import type { Target, UpstreamRequest } from './upstream.ts'

/**
 * Placeholder for signatures of calls that the caller did not return.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const missingSignature = 'skip_thought_signature_validator'
const maxStops = 5

/** @see https://ai.google.dev/api/generate-content */
export function buildGeminiRequest(canonical: CanonicalRequest, target: Target): UpstreamRequest {
  const { model } = target
  const request = omitUnsupportedParameters(canonical, model)
  const { warnings, sampling } = request
  const system = request.turns
    .flatMap((turn) => (turn.role === 'system' ? turn.parts : []))
    .filter(isNotBlank)
    .map(({ text }) => ({ text }))
  const contents = toContents(request.turns, model.signedCalls)
  if (contents.length === 0 && system.length > 0) contents.push({ role: 'user', parts: system.splice(0) })
  const body = omitUndefined({
    contents,
    systemInstruction: system.length > 0 ? { parts: system } : undefined,
    tools:
      request.tools.length > 0
        ? [{ functionDeclarations: request.tools.map((it) => toDeclaration(it, warnings)) }]
        : undefined,
    toolConfig: request.tools.length > 0 ? toToolConfig(request) : undefined,
    generationConfig: omitUndefined({
      maxOutputTokens: target.maxOutputTokens,
      temperature: sampling.temperature,
      topP: sampling.topP,
      topK: sampling.topK,
      seed: sampling.seed,
      presencePenalty: sampling.presencePenalty,
      frequencyPenalty: sampling.frequencyPenalty,
      stopSequences: toStopSequences(request),
      ...toFormatFields(request),
      thinkingConfig: toThinkingConfig(request, target),
    }),
  })
  if (request.parallelToolCalls === false && request.tools.length > 0) {
    warnings.push('parallel_tool_calls ignored: not supported by this provider')
  }
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {
    path: `/models/${encodeURIComponent(model.upstreamId)}:${method}`,
    headers: {},
    body,
    stream: request.stream,
    warnings,
  }
}

type Content = { role: 'user' | 'model'; parts: JsonObject[] }

function toContents(turns: readonly Turn[], signed: boolean): Content[] {
  const contents: Content[] = []
  let calls: readonly string[] = []
  for (const turn of turns) {
    if (turn.role === 'system') continue
    const parts = turn.role === 'user' ? toUserParts(turn, calls) : toModelParts(turn, signed)
    if (turn.role === 'assistant') calls = turn.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))
    if (parts.length === 0) continue
    const role = turn.role === 'user' ? 'user' : 'model'
    const last = contents.at(-1)
    // Results of calls must form a separate turn with as many parts as there were calls.
    if (last?.role === role && !hasResults(last) && !hasResults({ role, parts })) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  if (contents[0]?.role === 'model') contents.unshift({ role: 'user', parts: [{ text: '…' }] })
  return contents
}

function hasResults({ parts }: Content): boolean {
  return parts.some((part) => 'functionResponse' in part)
}

/** Sorts results in the order of their calls. */
function toUserParts(turn: UserTurn, calls: readonly string[]): JsonObject[] {
  const results = turn.parts
    .filter((part) => part.type === 'result')
    .sort((a, b) => calls.indexOf(a.callId) - calls.indexOf(b.callId))
  const images: JsonObject[] = []
  const answers = results.map((part) => {
    const texts = part.parts.filter((it) => it.type === 'text')
    images.push(...part.parts.flatMap((value) => (value.type === 'image' ? [toImagePart(value)] : [])))
    // Text in `output` is treated as data. In an object, Gemini would interpret `$ref` as a reference to a file.
    const text = texts.map((it) => it.text).join('\n')
    const response = part.failed ? { error: text } : { output: text }
    return { functionResponse: { id: part.callId, name: part.name, response } }
  })
  const rest = turn.parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return isNotBlank(part) ? [{ text: part.text }] : []
    if (part.type === 'image') return [toImagePart(part)]
    if (part.type === 'file') return [{ inlineData: { mimeType: part.mediaType, data: part.base64 } }]
    return []
  })
  return [...answers, ...images, ...rest]
}

function toModelParts(turn: AssistantTurn, signed: boolean): JsonObject[] {
  const firstCall = turn.parts.find((part) => part.type === 'call')
  return turn.parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        if (part.text === '' && !toOwnSignature(part.signature)) return []
        return [omitUndefined({ text: part.text, thoughtSignature: toOwnSignature(part.signature) })]
      case 'call': {
        // Only the first of parallel calls is signed.
        const bypass = signed && part === firstCall ? missingSignature : undefined
        const args = parseJsonObject(part.arguments === '' ? '{}' : part.arguments) ?? { INVALID_JSON: part.arguments }
        return [
          omitUndefined({
            functionCall: { id: part.id, name: part.name, args },
            thoughtSignature: toOwnSignature(part.signature) ?? bypass,
          }),
        ]
      }
      default:
        return []
    }
  })
}

function toOwnSignature(signature: Signature | undefined): string | undefined {
  return signature?.origin === 'gemini' ? signature.value : undefined
}

function toImagePart({ source }: ImagePart): JsonObject {
  if (source.kind === 'url') throw createBadRequestError('messages', 'An image was not fetched.', 'image')
  return { inlineData: { mimeType: source.mediaType, data: source.base64 } }
}

function toDeclaration(tool: CanonicalRequest['tools'][number], warnings: string[]): JsonObject {
  const { schema, warnings: schemaWarnings } = toGeminiSchema(tool.parameters ?? {})
  warnings.push(...schemaWarnings.map((it) => `${tool.name}: ${it}`))
  const properties = toJsonObject(schema.properties)
  const empty = (schema.type === undefined || schema.type === 'object') && Object.keys(properties ?? {}).length === 0
  const parameters = empty && !schema.anyOf ? undefined : { type: 'object', ...schema }
  return omitUndefined({ name: tool.name, description: tool.description, parameters })
}

function toToolConfig({ toolChoice: choice }: CanonicalRequest): JsonObject | undefined {
  if (!choice) return undefined
  if (choice.type === 'tool') {
    return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [choice.name] } }
  }
  const mode = { auto: 'AUTO', none: 'NONE', required: 'ANY' }[choice.type]
  return { functionCallingConfig: { mode } }
}

function toStopSequences(request: CanonicalRequest): string[] | undefined {
  const usable = request.stop.filter((it) => it !== '')
  if (usable.length > maxStops)
    throw createBadRequestError('stop', `This provider supports at most ${maxStops} stop sequences.`)
  return usable.length > 0 ? usable : undefined
}

function toFormatFields(request: CanonicalRequest): JsonObject {
  if (!request.format) return {}
  if (request.format.type === 'json') return { responseMimeType: 'application/json' }
  const { schema, warnings } = toGeminiSchema(request.format.schema)
  request.warnings.push(...warnings.map((it) => `response_format: ${it}`))
  return { responseMimeType: 'application/json', responseSchema: schema }
}

/** Includes thoughts if the model supports them. */
function toThinkingConfig(request: CanonicalRequest, { model, maxOutputTokens }: Target): JsonObject | undefined {
  const { reasoning } = model
  if (!reasoning) return undefined
  const on = isThinking(request, model)
  if (reasoning.by === 'level') {
    if (!request.reasoning) return { includeThoughts: true }
    const effort = getEffort(request, model)
    const level = findNearestEffort(effort, reasoning.values)
    if (level !== effort) request.warnings.push(`reasoning effort ${effort} became ${level} for ${model.name}`)
    return { includeThoughts: true, thinkingLevel: level }
  }
  if (reasoning.by !== 'budget') return undefined
  if (!on && reasoning.can_be_off) return { thinkingBudget: 0 }
  if (!on) {
    request.warnings.push(`${model.name} always thinks: the minimum budget was used`)
    return { includeThoughts: true, thinkingBudget: reasoning.min }
  }
  if (!request.reasoning) return { includeThoughts: true }
  const requested = request.reasoning.budgetTokens ?? thinkingBudgets[getEffort(request, model)]
  const budget = Math.max(reasoning.min, Math.min(requested, reasoning.max, maxOutputTokens))
  return { includeThoughts: true, thinkingBudget: budget }
}

function isNotBlank(part: TextPart): boolean {
  return part.text.trim() !== ''
}
