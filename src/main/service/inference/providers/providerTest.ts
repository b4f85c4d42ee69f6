import { createHttpClient } from '#platform/http/httpClient.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { type FamilyId, families } from '#shared/contract/families.ts'
import type { KeyTest } from '#shared/contract/providers.ts'
import type { ModelCatalogue } from '../catalogue/modelCatalogue.ts'
import { modelFamilies } from '../families/modelFamilies.ts'
import type { Provider } from './provider.ts'

export type ProviderTest = {
  /** @throws AppError `inference/unconfigured` */
  test(family: FamilyId, signal: AbortSignal): Promise<KeyTest>
  close(): void
}

type Options = {
  kinds: ModelCatalogue['kinds']
  findProvider: (model: { providerId: FamilyId }) => Provider | undefined
  answerMs?: number
}

const defaultMs = 15_000
/** A list of models has about 100 KB. */
const maxResponseBytes = 4 * 1024 * 1024

/**
 * Tests a key by listing models, which is free. Never returns the response, because some providers and their impostors
 * quote the rejected key.
 */
export function createProviderTest({ kinds, findProvider, answerMs = defaultMs }: Options): ProviderTest {
  const client = createHttpClient({ maxAnswerBytes: maxResponseBytes })
  return {
    async test(family, signal) {
      const { title } = families[family]
      const { listRequest, credentialHeaders } = modelFamilies[kinds[family]]
      const provider = findProvider({ providerId: family })
      if (!provider) throw new AppError('inference/unconfigured', `Steward has no key for ${title}.`)
      const late = AbortSignal.timeout(answerMs)
      const url = provider.baseUrl.replace(/\/+$/, '') + listRequest.path
      const headers = {
        accept: 'application/json',
        ...listRequest.headers,
        ...credentialHeaders(provider.apiKey ?? ''),
      }
      try {
        const { status, text } = await client.ask(url, {
          method: 'GET',
          headers,
          signal: AbortSignal.any([signal, late]),
        })
        return toKeyTest({ title, status, text })
      } catch {
        signal.throwIfAborted()
        const why = late.aborted ? `did not respond within ${answerMs / 1000} s` : 'cannot be reached'
        return { outcome: 'unreachable', detail: `${title} ${why}. The key was not tested.` }
      }
    },
    close: client.close,
  }
}

type TestResponse = { title: string; status: number; text: string }

function toKeyTest({ title, status, text }: TestResponse): KeyTest {
  if (status === 200 && isModelList(text)) return { outcome: 'accepted', detail: `${title} accepts this key.` }
  if (isRefusal(status, text)) {
    return {
      outcome: 'refused',
      detail: `${title} rejected this key (status ${status}). Check that you copied the whole key.`,
    }
  }
  if (status === 429) {
    return {
      outcome: 'unclear',
      detail: `${title} responded with status 429: too many requests, or no credit left.`,
    }
  }
  return { outcome: 'unclear', detail: `${title} responded with status ${status} instead of a list of models.` }
}

function isModelList(text: string): boolean {
  const parsed = parseJsonOrUndefined(text)
  if (typeof parsed !== 'object' || parsed === null) return false
  return ('data' in parsed && Array.isArray(parsed.data)) || ('models' in parsed && Array.isArray(parsed.models))
}

/** Google reports a wrong key as an invalid request. */
function isRefusal(status: number, text: string): boolean {
  return status === 401 || status === 403 || (status === 400 && text.includes('API_KEY_INVALID'))
}
