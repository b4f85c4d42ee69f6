import type { createEmbeddings } from '#shared/contract/inference.ts'
import type { Answer } from '#shared/contract/route.ts'
import { InferenceError } from '../inferenceError.ts'
import { getList, type JsonObject, toJsonObject } from '../json.ts'
import type { EmbeddingsRequest, VectorEncoding } from './embeddingsRequest.ts'

export type EmbeddingsAnswer = Answer<typeof createEmbeddings>
type Item = EmbeddingsAnswer['data'][number]

/**
 * Reads the vectors of a response, in the order of the inputs and with the requested encoding.
 * @throws InferenceError `unusable` unless there is one vector of finite numbers per input, all of the same length
 */
export function readVectors(answer: JsonObject, { inputs, encoding, dimensions }: EmbeddingsRequest): Item[] {
  const list = getList(answer, 'data')
  if (list.length !== inputs.length) throw createUnusableError(`${list.length} vectors for ${inputs.length} inputs`)
  const items = new Map<number, Item>()
  let length = dimensions
  for (const [at, it] of list.entries()) {
    const item = toJsonObject(it)
    const index = item?.index ?? at
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= inputs.length) {
      throw createUnusableError('a vector for an unknown input')
    }
    if (items.has(index)) throw createUnusableError('two vectors for one input')
    const vector = readVector(item?.embedding)
    if (!vector) throw createUnusableError('a vector that is not a list of numbers')
    length ??= vector.length
    if (vector.length !== length) throw createUnusableError(`a vector of ${vector.length} numbers instead of ${length}`)
    items.set(index, { object: 'embedding', index, embedding: encodeVector(vector, encoding) })
  }
  return inputs.map((_, index) => items.get(index) as Item) // one per input, without duplicates
}

function createUnusableError(reason: string): InferenceError {
  return new InferenceError('upstream', `The provider sent ${reason}.`, { reason: 'unusable' })
}

type Vector = readonly number[] | Float32Array

function readVector(value: unknown): Vector | undefined {
  const vector = typeof value === 'string' ? decodeVector(value) : Array.isArray(value) ? value : undefined
  return vector && vector.length > 0 && vector.every(isFloat32) ? vector : undefined
}

/** Whether a number stays finite in base64, which uses 32-bit floats. */
function isFloat32(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(Math.fround(value))
}

function decodeVector(base64: string): Float32Array | undefined {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const isWhole = bytes.length % Float32Array.BYTES_PER_ELEMENT === 0
  // `Buffer.from` skips invalid characters, so the result is compared.
  return isWhole && Buffer.from(bytes).toString('base64') === base64 ? new Float32Array(bytes.buffer) : undefined
}

function encodeVector(vector: Vector, encoding: VectorEncoding): number[] | string {
  if (encoding === 'float') return [...vector]
  const { buffer, byteOffset, byteLength } = Float32Array.from(vector)
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}
