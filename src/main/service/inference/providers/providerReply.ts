import { InferenceError } from '../inferenceError.ts'
import { type JsonObject, parseJsonObject } from '../json.ts'
import type { createCompletionMeter } from '../streaming/completionLimits.ts'
import { createBrokenResponseError } from './upstreamPools.ts'
import type { UpstreamReply } from './upstreamRequest.ts'

/** Maximum size of a response that is not streamed. It is parsed synchronously. */
export const maxJsonResponseBytes = 8 * 1024 * 1024

type ReadOptions = { scrubText: (text: string) => string; meter: ReturnType<typeof createCompletionMeter> }

/**
 * @throws InferenceError with the reason `overlong` for a response above the maximum, or `unusable` if it is not a JSON
 * object
 */
export async function readJsonReply({ body }: UpstreamReply, { scrubText, meter }: ReadOptions): Promise<JsonObject> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of body) {
      bytes += piece.length
      meter.assertAlive()
      if (bytes > maxJsonResponseBytes) {
        throw new InferenceError('upstream', 'The provider’s response is too large.', { reason: 'overlong' })
      }
      pieces.push(piece)
    }
  } catch (error) {
    throw createBrokenResponseError(error)
  }
  const parsed = parseJsonObject(scrubText(Buffer.concat(pieces).toString('utf8')))
  if (parsed) return parsed
  throw new InferenceError('upstream', "The provider's response is not a JSON object.", { reason: 'unusable' })
}

export function createNotConfiguredError({ name }: { name: string }): InferenceError {
  const message = `Steward has no key for the provider of ${name}.`
  return new InferenceError('unconfigured', message, { reason: 'provider_not_configured' })
}

/** Shorter keys are placeholders for servers without authentication, and may occur in a response by chance. */
const minKeyChars = 12

type ProviderKey = { apiKey: string | undefined }

/** Removes the key from responses. A debugging proxy may echo the request headers with a success status. */
export function createKeyScrubber({ apiKey }: ProviderKey): (text: string) => string {
  if (apiKey === undefined || apiKey.length < minKeyChars) return (text) => text
  return (text) => (text.includes(apiKey) ? text.replaceAll(apiKey, '…') : text)
}

/** Removes the key from an error, because providers repeat keys in their messages. */
export function scrubError(error: InferenceError, { apiKey }: ProviderKey): InferenceError {
  const { kind, message, reason, param, detail, retryAfter, status, cause } = error
  if (!apiKey || ![message, reason, param, detail, retryAfter].some((it) => it?.includes(apiKey))) return error
  const clean = (text: string | undefined) => text?.replaceAll(apiKey, '…')
  return new InferenceError(kind, message.replaceAll(apiKey, '…'), {
    reason: clean(reason),
    param: clean(param),
    detail: clean(detail),
    retryAfter: retryAfter?.includes(apiKey) ? undefined : retryAfter,
    status,
    cause,
  })
}
