import type { DialectName } from './dialects/dialect.ts'
import type { CatalogueModel } from './modelCatalogue.ts'
import { rawChat } from './raw/rawChat.ts'
import { rawMessages } from './raw/rawMessages.ts'
import type { RawPass } from './raw/rawPass.ts'
import { rawResponses } from './raw/rawResponses.ts'
import { anthropicUpstream } from './upstreams/anthropicUpstream.ts'
import { geminiUpstream } from './upstreams/geminiUpstream.ts'
import { openAiUpstream } from './upstreams/openAiUpstream.ts'
import { responsesUpstream } from './upstreams/responsesUpstream.ts'
import type { Upstream } from './upstreams/upstream.ts'

/** How a dialect reaches a model: by translation, or nearly raw where both speak the same. */
export type ProviderRoute = { upstream: Upstream; raw: RawPass | undefined }

export function providerRoute(model: CatalogueModel, dialect: DialectName): ProviderRoute {
  if (model.kind === 'anthropic') {
    return { upstream: anthropicUpstream, raw: dialect === 'messages' ? rawMessages : undefined }
  }
  if (model.kind === 'gemini') return { upstream: geminiUpstream, raw: undefined }
  if (model.kind === 'openai' && (dialect === 'responses' || model.responsesOnly)) {
    return { upstream: responsesUpstream, raw: dialect === 'responses' ? rawResponses : undefined }
  }
  return chatRoute(model, dialect)
}

/** Also where a server in OpenAI's place has no Responses. */
export function chatRoute(model: CatalogueModel, dialect: DialectName): ProviderRoute {
  if (model.kind === 'anthropic' || model.kind === 'gemini') return providerRoute(model, dialect)
  return { upstream: openAiUpstream, raw: dialect === 'chat' ? rawChat : undefined }
}

export function credentialHeaders(model: CatalogueModel, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {}
  if (model.kind === 'anthropic') return { 'x-api-key': apiKey }
  if (model.kind === 'gemini') return { 'x-goog-api-key': apiKey }
  return { authorization: `Bearer ${apiKey}` }
}
