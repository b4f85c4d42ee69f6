import type { ModelKind } from '#shared/contract/inference.ts'
import { createBadRequestError } from '../inferenceError.ts'

/** Names of common embedding models. Lists of servers do not distinguish them from chat models. */
const embeddingName = /embed|(^|[^a-z])(minilm|bge|gte|e5)([^a-z]|$)/i

/** Guesses the kind of a model on a user's server from its name. */
export function guessModelKind(name: string): ModelKind {
  return embeddingName.test(name) ? 'embedding' : 'chat'
}

const advice: Readonly<Record<ModelKind, string>> = {
  chat: 'is a chat model and does not create embeddings',
  embedding: 'is an embedding model: use POST /v1/embeddings',
}

/** @throws InferenceError 400 with the field `model` */
export function requireModelKind(model: { name: string; modelKind: ModelKind }, kind: ModelKind): void {
  if (model.modelKind !== kind)
    throw createBadRequestError('model', `\`model\`: ${model.name} ${advice[model.modelKind]}.`)
}
