import { createBadRequestError } from '../inferenceError.ts'
import { toJsonObject } from '../json.ts'

const nothingStored = 'Steward stores no conversations: send the whole conversation'
const conversation = `${nothingStored}.`
const file = 'Files are not stored: send the file itself.'
const providerStorageAdvice = 'Steward does not run tools at the provider: `environment.type` must be local.'

/** Fields that refer to data stored or run in a provider's account, with the advice for each. */
const advice: Readonly<Record<string, string>> = {
  thread: `${nothingStored} (in Anthropic's SDK: \`thread: false\`).`,
  conversation,
  previous_response_id: conversation,
  previous_message_id: conversation,
  prompt: 'Prompts are not stored: send `instructions` and `input`.',
  container: 'Provider containers are not supported: run tools yourself.',
  environment: providerStorageAdvice,
  file_url: file,
}
/** Id, or list of ids, of an object in the provider's account. */
const storedIdName =
  /^(file|container|vector_store|thread|conversation|response|message|assistant|skill|prompt|connector|batch|cached_content|upload|voice)_ids?$/
const maxDepth = 32

/**
 * Rejects a disallowed field that refers to stored data. Removing it would change the meaning, and forwarding it would
 * expose data that other accounts store under the same provider key.
 * @throws InferenceError 400 with the field
 */
export function rejectStoredReferences(value: unknown, path: string, depth = 0): void {
  if (depth > maxDepth) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) rejectStoredReferences(item, `${path}[${index}]`, depth + 1)
    return
  }
  const object = toJsonObject(value)
  if (!object) return
  for (const name of Object.keys(object)) {
    const field = object[name]
    if (field === null || field === undefined || field === false) continue
    const fieldPath = path === '' ? name : `${path}.${name}`
    const sentence = Object.hasOwn(advice, name) ? advice[name] : storedIdName.test(name) ? findAdvice(name) : undefined
    if (sentence !== undefined && !isLocal(name, field))
      throw createBadRequestError(fieldPath, sentence, 'unsupported_parameter')
    rejectStoredReferences(field, fieldPath, depth + 1)
  }
}

function findAdvice(name: string): string {
  return name.startsWith('file') ? file : conversation
}

function isLocal(name: string, field: unknown): boolean {
  return name === 'environment' && toJsonObject(field)?.type === 'local'
}
