import type { DialectName } from '#service/inference/dialects/dialect.ts'
import type { FamilyId } from '#shared/contract/families.ts'
import { exchange, runningService, type TestServiceOptions } from '../processes/runningService.ts'
import { foldChat, foldMessages, foldResponses } from './foldedStreams.ts'
import { createInferenceOptions } from './inferenceOptions.ts'
import { createProviderServer } from './providerServer.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

export type ModelRequest = { dialect: DialectName; model: string; stream?: boolean; key?: string; body?: object }
export type ModelAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** JSON, or the folded stream. */
  body: Wire
  text: string
}

export const modelPaths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }
const folded = { chat: foldChat, messages: foldMessages, responses: foldResponses }

/** Starts the real service, with its ledger and keys, in front of strict fakes of all providers. */
export async function modelService({
  unconfigured = [],
  ...options
}: TestServiceOptions & { unconfigured?: FamilyId[] } = {}) {
  const providers = await createProviderServer()
  const inference = createInferenceOptions(providers)
  const families = Object.fromEntries(
    Object.entries(inference.families).filter(([id]) => !unconfigured.some((it) => it === id)),
  )
  const service = await runningService({ host: 'none', inference: { ...inference, families }, ...options })
  return {
    service,
    providers,
    ask: (request: ModelRequest) => requestModel(service, request),
    balance: (key = service.key) => microBalance(service.url, key),
    async close(): Promise<void> {
      await service.close()
      await providers.close()
    },
  }
}

/** Builds a default request: a greeting, with streams that report their price. */
export function modelBody({ dialect, model, stream = false, body }: ModelRequest): object {
  const messages = [{ role: 'user', content: 'Hello' }]
  const defaults = {
    chat: { messages, ...(stream && { stream_options: { include_usage: true } }) },
    messages: { messages, max_tokens: 100 },
    responses: { input: 'Hello' },
  }
  return { model, ...(stream && { stream }), ...defaults[dialect], ...body }
}

export async function requestModel(to: { url: string; key: string }, modelRequest: ModelRequest): Promise<ModelAnswer> {
  const request = { key: modelRequest.key ?? to.key, body: modelBody(modelRequest) }
  const { status, headers, text, json } = await exchange(to.url, modelPaths[modelRequest.dialect], request)
  const streamed = String(headers['content-type']).startsWith('text/event-stream')
  const failed = /"error":\{|event: error|"type":"response.failed"/.test(text)
  return { status, headers, text, body: streamed && !failed ? folded[modelRequest.dialect](text) : json }
}

/** Returns the balance in micro-dollars. */
export async function microBalance(url: string, key: string): Promise<{ posted: number; held: number }> {
  const { json } = await exchange(url, '/v1/credits/history?limit=1', { key })
  const balance = await exchange(url, '/v1/credits/balance', { key })
  return { posted: micro(json.transactions[0]?.balance_after_cents ?? 0), held: micro(balance.json.held_cents) }
}

/** Converts cents to micro-dollars. Cents have up to 4 decimals on the wire. */
export function micro(cents: number): number {
  return Math.round(cents * 10_000)
}
