import type { DialectName } from '../dialects/dialect.ts'
import type { Passthrough } from '../passthrough/passthrough.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { ModelQuirks } from './quirks.ts'

/** Route from a dialect to a model: by translation, or nearly unchanged where both speak the same. */
export type ProviderRoute = { upstream: Upstream; raw: Passthrough | undefined }

/** Request for a list of models, which costs nothing and tells whether a key is accepted. */
export type ListRequest = { path: string; headers: Readonly<Record<string, string>> }

export type RouteOptions = {
  dialect: DialectName
  /** Whether the model answers at the Responses API only. */
  responsesOnly: boolean
  /** Whether the server in the provider's place is known to have no Responses API. */
  lacksResponses: boolean
}

/** All that Steward knows of how one family of models is spoken to. */
export type ModelFamily = {
  credentialHeaders(apiKey: string): Record<string, string>
  listRequest: ListRequest
  route(options: RouteOptions): ProviderRoute
  quirks: ModelQuirks
}
