import type { CanonicalEvent, CanonicalRequest } from '../canonical/canonical.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import type { Dialect, ResponseMeta } from '../dialects/dialect.ts'
import { warnUntranslated } from '../dialects/requestFields.ts'
import { modelFamilies } from '../families/modelFamilies.ts'
import type { ProviderRoute } from '../families/modelFamily.ts'
import type { JsonObject } from '../json.ts'
import { messagesPassthrough } from '../passthrough/messagesPassthrough.ts'
import type { UpstreamRequest } from '../upstreams/upstream.ts'
import { createCredentialHeaders } from './credentialHeaders.ts'
import type { Provider } from './provider.ts'
import { readErrorText, type UpstreamPools } from './upstreamPools.ts'
import type { UpstreamReply } from './upstreamRequest.ts'

/** Parsed and validated request of a caller. */
export type Job = {
  dialect: Dialect
  body: JsonObject
  /** Body without fields that the dialect does not allow. */
  passable: JsonObject
  removedFields: readonly string[]
  model: CatalogueModel
  request: CanonicalRequest
  restore: (event: CanonicalEvent) => CanonicalEvent
  signal: AbortSignal
  betas: string | undefined
  removedBetas: readonly string[]
  onOutput: ResponseMeta['onOutput']
}

/** Request to send, with its source. */
export type Draft = {
  fetched: CanonicalRequest
  maxOutputTokens: number
  route: ProviderRoute
  request: UpstreamRequest
  /** Serialized body. */
  text: string
  maxInput: number
}

export type ProviderRequests = {
  routeTo(model: CatalogueModel, dialect: Dialect): ProviderRoute
  createDraft(job: Job, source: Pick<Draft, 'fetched' | 'maxOutputTokens'>): Draft
  /**
   * Sends a draft, or rewrites it in another dialect if the provider does not support that of the draft.
   * @returns the reply, with the draft that was sent
   * @throws InferenceError
   */
  send(provider: Provider, job: Job, draft: Draft): Promise<{ reply: UpstreamReply; draft: Draft }>
}

export function createProviderRequests(pools: Pick<UpstreamPools, 'send'>): ProviderRequests {
  /** Ids of providers whose server supports only chat completions, although OpenAI has Responses. */
  const withoutResponses = new Set<string>()

  function routeTo({ kind, providerId, responsesOnly }: CatalogueModel, { name }: Dialect): ProviderRoute {
    return modelFamilies[kind].route({ dialect: name, responsesOnly, lacksResponses: withoutResponses.has(providerId) })
  }

  function createDraft(job: Job, { fetched, maxOutputTokens }: Pick<Draft, 'fetched' | 'maxOutputTokens'>): Draft {
    const { model, dialect, passable, removedFields } = job
    const route = routeTo(model, dialect)
    const target = { model, maxOutputTokens }
    const warnings = route.raw
      ? [...removedFields, ...(route.raw === messagesPassthrough ? job.removedBetas : [])]
      : [...removedFields, ...warnUntranslated(passable, dialect.translatedFields), ...fetched.warnings]
    const draft = { ...fetched, warnings }
    const request = route.raw ? route.raw.write(passable, draft, target) : route.upstream.write(draft, target)
    const text = JSON.stringify(request.body)
    // A passthrough request may have more input than its canonical form.
    const maxInput = route.raw ? Math.max(0, Buffer.byteLength(text) - countImageChars(fetched)) : 0
    return { fetched, maxOutputTokens, route, request, text, maxInput }
  }

  async function send(provider: Provider, job: Job, draft: Draft): Promise<{ reply: UpstreamReply; draft: Draft }> {
    const { route, request } = draft
    const betas = route.raw === messagesPassthrough ? job.betas : undefined
    const reply = await pools.send({
      url: provider.baseUrl.replace(/\/+$/, '') + request.path,
      headers: {
        ...request.headers,
        ...(betas !== undefined && { 'anthropic-beta': betas }),
        ...createCredentialHeaders(job.model, provider.apiKey),
      },
      body: draft.text,
      signal: job.signal,
    })
    if (reply.status >= 200 && reply.status < 300) return { reply, draft }
    const retryAfter = reply.headers['retry-after']
    const error = route.upstream.readFailure({
      status: reply.status,
      body: await readErrorText(reply.body),
      retryAfter,
    })
    const noSuchPath = (reply.status === 404 || reply.status === 405) && error.reason !== 'model_not_found'
    if (noSuchPath && request.path === '/responses') {
      withoutResponses.add(job.model.providerId)
      return await send(provider, job, createDraft(job, draft))
    }
    throw error
  }

  return { routeTo, createDraft, send }
}

/** Counts the base64 characters of images, whose tokens do not depend on their size in bytes. */
function countImageChars(request: CanonicalRequest): number {
  let chars = 0
  for (const turn of request.turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.parts.flatMap((value) => (value.type === 'result' ? value.parts : [value]))) {
      if (part.type === 'image' && part.source.kind === 'data') chars += part.source.base64.length
    }
  }
  return chars
}
