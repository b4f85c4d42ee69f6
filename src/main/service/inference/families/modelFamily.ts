import type { DialectName } from '../dialects/dialect.ts'
import type { Passthrough } from '../passthrough/passthrough.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import type { ModelQuirks } from './quirks.ts'

/** Route from a dialect to a model. `raw` is set if both use the same dialect; otherwise the request is translated. */
export type ProviderRoute = { upstream: Upstream; raw: Passthrough | undefined }

/** Request that lists models. It is free and shows whether a key is accepted. */
export type ListRequest = { path: string; headers: Readonly<Record<string, string>> }

export type RouteOptions = {
  dialect: DialectName
  /** Whether the model is available only in the Responses API. */
  responsesOnly: boolean
  /** Whether the configured server is known to lack the Responses API. */
  lacksResponses: boolean
}

/** Everything that is specific to one family of models. */
export type ModelFamily = {
  credentialHeaders(apiKey: string): Record<string, string>
  listRequest: ListRequest
  route(options: RouteOptions): ProviderRoute
  quirks: ModelQuirks
}
