import type { DialectName } from '#service/inference/dialects/dialect.ts'
import type { FamilyId } from '#shared/contract/families.ts'
import { exchange, runningService, type TestServiceOptions } from '../runningService.ts'
import { foldedChat, foldedMessages, foldedResponses } from './foldedStreams.ts'
import { inferenceOf } from './inferenceOf.ts'
import { providerServer } from './providerServer.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of the wire, whose form is what the tests look at
type Wire = any

export type ModelAsked = { dialect: DialectName; model: string; stream?: boolean; key?: string; body?: object }
export type ModelAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** JSON, or what a client makes of the stream. */
  body: Wire
  text: string
}

export const modelPaths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }
const folded = { chat: foldedChat, messages: foldedMessages, responses: foldedResponses }

/** The service as it is, with its ledger and its keys, before strict fakes of all providers. */
export async function modelService({
  unconfigured = [],
  ...options
}: TestServiceOptions & { unconfigured?: FamilyId[] } = {}) {
  const providers = await providerServer()
  const inference = inferenceOf(providers)
  const families = Object.fromEntries(
    Object.entries(inference.families).filter(([id]) => !unconfigured.some((it) => it === id)),
  )
  const service = await runningService({ host: 'none', inference: { ...inference, families }, ...options })
  return {
    service,
    providers,
    ask: (asked: ModelAsked) => askedModel(service, asked),
    balance: (key = service.key) => microBalance(service.url, key),
    async close(): Promise<void> {
      await service.close()
      await providers.close()
    },
  }
}

/** What is sent where nothing else is said: a greeting, and streams that tell their price. */
export function modelBody({ dialect, model, stream = false, body }: ModelAsked): object {
  const messages = [{ role: 'user', content: 'Hello' }]
  const usual = {
    chat: { messages, ...(stream && { stream_options: { include_usage: true } }) },
    messages: { messages, max_tokens: 100 },
    responses: { input: 'Hello' },
  }
  return { model, ...(stream && { stream }), ...usual[dialect], ...body }
}

export async function askedModel(to: { url: string; key: string }, asked: ModelAsked): Promise<ModelAnswer> {
  const sent = { key: asked.key ?? to.key, body: modelBody(asked) }
  const { status, headers, text, json } = await exchange(to.url, modelPaths[asked.dialect], sent)
  const streamed = String(headers['content-type']).startsWith('text/event-stream')
  const failed = /"error":\{|event: error|"type":"response.failed"/.test(text)
  return { status, headers, text, body: streamed && !failed ? folded[asked.dialect](text) : json }
}

/** In millionths of a dollar. */
export async function microBalance(url: string, key: string): Promise<{ posted: number; held: number }> {
  const { json } = await exchange(url, '/v1/credits/history?limit=1', { key })
  const held = await exchange(url, '/v1/credits/balance', { key })
  return { posted: micro(json.transactions[0]?.balance_after_cents ?? 0), held: micro(held.json.held_cents) }
}

/** Cents have up to 4 decimals on the wire. */
export function micro(cents: number): number {
  return Math.round(cents * 10_000)
}
