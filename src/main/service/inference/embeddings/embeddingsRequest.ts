import { countTokens } from '../billing/tokenCount.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import { readInteger, readTextField } from '../dialects/requestFields.ts'
import { createBadRequestError } from '../inferenceError.ts'
import type { JsonObject } from '../json.ts'
import { data, type FieldShape, objectShape, scalars } from '../passthrough/fieldShape.ts'
import { maxJsonResponseBytes } from '../providers/providerReply.ts'

export type VectorEncoding = 'float' | 'base64'

export type EmbeddingsRequest = {
  model: string
  /** Non-empty texts or lists of tokens. */
  inputs: readonly (string | readonly number[])[]
  encoding: VectorEncoding
  dimensions: number | undefined
}

/** @see https://platform.openai.com/docs/api-reference/embeddings/create */
export const embeddingsFields: FieldShape = objectShape({
  ...scalars('model', 'encoding_format', 'dimensions', 'user'),
  input: data,
})

const maxInputs = 2_048
const maxTokensPerInput = 1_000_000
const maxDimensions = 65_536

/** @throws InferenceError with the invalid field */
export function readEmbeddingsRequest(body: JsonObject): EmbeddingsRequest {
  const encoding = readTextField(body, 'encoding_format') ?? 'float'
  if (encoding !== 'float' && encoding !== 'base64') {
    throw createBadRequestError('encoding_format', '`encoding_format` must be float or base64.')
  }
  const dimensions = readInteger(body, 'dimensions', 1)
  if (dimensions !== undefined && dimensions > maxDimensions) {
    throw createBadRequestError('dimensions', `\`dimensions\` must be at most ${maxDimensions}.`)
  }
  readTextField(body, 'user')
  return {
    model: readTextField(body, 'model') ?? '',
    inputs: readInputs(body.input ?? undefined),
    encoding,
    dimensions,
  }
}

function readInputs(input: unknown): EmbeddingsRequest['inputs'] {
  if (input === undefined) throw createBadRequestError('input', '`input` is required.', 'missing_required_parameter')
  if (typeof input === 'string') return [readText(input, 'input')]
  if (!Array.isArray(input))
    throw createBadRequestError('input', '`input` must be a string or a list of strings or tokens.')
  if (input.length === 0) throw createBadRequestError('input', '`input` must not be empty.', 'empty_array')
  if (typeof input[0] === 'number') return [readTokens(input, 'input')]
  if (input.length > maxInputs) {
    throw createBadRequestError('input', `\`input\` must have at most ${maxInputs} items.`, 'array_above_max_length')
  }
  const isTexts = typeof input[0] === 'string'
  return input.map((item: unknown, index) => {
    const param = `input[${index}]`
    if (isTexts && typeof item === 'string') return readText(item, param)
    if (!isTexts && Array.isArray(item)) return readTokens(item, param)
    throw createBadRequestError(param, `\`${param}\` must be a string, or a list of tokens like all other items.`)
  })
}

function readText(text: string, param: string): string {
  if (text === '') throw createBadRequestError(param, `\`${param}\` must not be an empty string.`)
  return text
}

function readTokens(list: readonly unknown[], param: string): readonly number[] {
  if (list.length === 0) throw createBadRequestError(param, `\`${param}\` must not be empty.`, 'empty_array')
  if (list.length > maxTokensPerInput) throw createBadRequestError(param, `\`${param}\` has too many tokens.`)
  return list.map((token, index) => {
    if (typeof token === 'number' && Number.isSafeInteger(token) && token >= 0) return token
    throw createBadRequestError(`${param}[${index}]`, `\`${param}[${index}]\` must be a token: a whole number from 0.`)
  })
}

/** Tokens that a provider adds around each input. */
const frameTokens = 16

/** @returns an upper bound on the input tokens, because no tokenizer produces more tokens than bytes */
export function getMaxEmbeddingTokens(inputs: EmbeddingsRequest['inputs']): number {
  return inputs.reduce(
    (sum, input) => sum + frameTokens + (typeof input === 'string' ? Buffer.byteLength(input) : input.length),
    0,
  )
}

/** @returns an estimate of the provider's count, for responses without usage */
export async function estimateEmbeddingTokens(inputs: EmbeddingsRequest['inputs']): Promise<number> {
  let sum = 0
  for (const input of inputs) sum += typeof input === 'string' ? await countTokens(input) : input.length
  return Math.min(sum, getMaxEmbeddingTokens(inputs))
}

/** Maximum bytes of a number in JSON. */
const floatBytes = 24
const base64FloatBytes = 16 / 3
/** Bytes around a vector in a response. */
const itemBytes = 128

/** @returns the encoding to request from the provider: the shortest that it is known to support */
export function getProviderEncoding(model: CatalogueModel): VectorEncoding {
  return model.quirks.embeddings?.encoding ?? 'float'
}

/**
 * Rejects requests that the provider would bill for without a usable result.
 * @throws InferenceError 400 for tokens that the provider does not accept, and for vectors that exceed the maximum
 * response size
 */
export function assertEmbeddable(model: CatalogueModel, request: EmbeddingsRequest): void {
  if (!model.quirks.embeddings?.takesTokens && typeof request.inputs[0] !== 'string') {
    throw createBadRequestError('input', `\`input\` must be text: ${model.name} does not accept tokens.`)
  }
  const dimensions = request.dimensions ?? model.dimensions
  if (dimensions === undefined) return
  const encodings = [request.encoding, getProviderEncoding(model)]
  const bytes = itemBytes + dimensions * (encodings.includes('float') ? floatBytes : base64FloatBytes)
  const maxCount = Math.max(1, Math.floor(maxJsonResponseBytes / bytes))
  if (request.inputs.length <= maxCount) return
  const message = `\`input\` must have at most ${maxCount} items with vectors of ${dimensions} numbers in ${request.encoding}: the maximum response size is 8 MB.`
  throw createBadRequestError('input', message, 'array_above_max_length')
}
