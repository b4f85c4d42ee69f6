// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

const openAiParameters = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user'])
const qwenParameters = new Set(['model', 'input', 'encoding_format', 'dimensions'])
const qwenDimensions = [2048, 1536, 1024, 768, 512, 256, 128, 64]
const maxQwenInputs = 10

/**
 * Rejects the requests that the providers reject.
 * @see https://platform.openai.com/docs/api-reference/embeddings/create
 * @see https://www.alibabacloud.com/help/en/model-studio/text-embedding-synchronous-api
 */
export function embeddingsRules(body: Wire): string | undefined {
  const inputs = Array.isArray(body.input) ? body.input : [body.input]
  if (inputs.length === 0 || inputs.some((input: Wire) => input === '' || input === undefined))
    return "'$.input' is invalid."
  const isQwen = body.model === 'text-embedding-v4'
  const unknown = Object.keys(body).find((name) => !(isQwen ? qwenParameters : openAiParameters).has(name))
  if (unknown) return `Unrecognized request argument supplied: ${unknown}`
  if (!isQwen) return undefined
  if (body.encoding_format !== 'float') return 'encoding_format must be float'
  if (inputs.some((it: Wire) => typeof it !== 'string')) return 'input must be text'
  if (inputs.length > maxQwenInputs) return `batch size is invalid, it should not be larger than ${maxQwenInputs}.`
  if (body.dimensions !== undefined && !qwenDimensions.includes(body.dimensions)) return 'dimensions is invalid'
  return undefined
}

/** Returns vectors of 4 numbers, or of the requested dimensions: the index of the input, followed by quarters. */
export function embeddingsJson(tokens: number | undefined, body: Wire): Wire {
  const isList = Array.isArray(body.input) && typeof body.input[0] !== 'number'
  const count = isList ? body.input.length : 1
  const data = Array.from({ length: count }, (_, index) => {
    const vector = Array.from({ length: body.dimensions ?? 4 }, (__, offset) => (offset === 0 ? index : offset / 4))
    const embedding = body.encoding_format === 'base64' ? encodeBase64(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  const usage = tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  return { object: 'list', data, model: body.model, usage }
}

/** Encodes a vector as little-endian 32-bit floats. */
export function encodeBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString('base64')
}
