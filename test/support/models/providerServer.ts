import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { embeddingsJson, embeddingsRules } from './embeddingsProvider.ts'
import {
  anthropicRules,
  geminiRules,
  moonshotRules,
  openAiRules,
  qwenRules,
  type RuleContext,
  responsesRules,
} from './providerRules.ts'
import {
  chatFrames,
  chatJson,
  geminiFrames,
  geminiJson,
  messagesFrames,
  messagesJson,
  type ScriptedAnswer,
} from './scriptedAnswer.ts'
import { responsesFrames, responsesJson } from './scriptedResponses.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

/** Behavior for the provider's next request. */
export type Turn =
  /** `until`: delays the end of the stream, or the whole JSON response. */
  | (ScriptedAnswer & { until?: Promise<unknown> })
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** `frames`: sent unchanged, one by one. The connection then ends, is cut, or stays silent. */
  /** `until`: delays the last frames. */
  | { frames: string[]; after?: 'cut' | 'silence'; until?: Promise<unknown> }
  /** Closes the connection before any response. */
  | { cut: true }

export type ProviderRequest = { provider: ProviderName; path: string; headers: IncomingMessage['headers']; body: Wire }
export type ProviderName =
  | 'openai'
  | 'responses'
  | 'embeddings'
  | 'anthropic'
  | 'gemini'
  | 'moonshot'
  | 'qwen'
  | 'local'

/** API keys that must appear only in headers. */
export const providerKeys: Readonly<Record<string, string>> = {
  openai: 'sk-openai-secret',
  anthropic: 'sk-ant-secret',
  gemini: 'AIza-secret',
  moonshot: 'sk-moonshot-secret',
  qwen: 'sk-qwen-secret',
  local: 'none',
}

export type ProviderServer = Awaited<ReturnType<typeof createProviderServer>>

/**
 * Starts all providers at one address, each as strict as its documentation. Unscripted requests are answered with a
 * greeting.
 */
export async function createProviderServer() {
  const script: Turn[] = []
  const requests: ProviderRequest[] = []
  const signatures = new Set<string>()
  /** Connections that the client closed before the response was complete. */
  let openConnections = 0
  let options = { responses: true }
  let next: (() => Turn[]) | undefined
  let defaultTurn: ((request: ProviderRequest) => Turn) | undefined
  /** Number of frames written to the last stream. */
  let written = 0

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    if (request.method === 'GET') return listModels(request, response)
    const body: Wire = JSON.parse(Buffer.concat(pieces).toString())
    const url = new URL(request.url ?? '/', 'http://provider')
    const [, basePath = ''] = url.pathname.split('/')
    const provider = (/\/(responses|embeddings)$/.exec(url.pathname)?.[1] ?? basePath) as ProviderName
    const providerRequest = { provider, path: url.pathname + url.search, headers: request.headers, body }
    requests.push(providerRequest)
    response.once('close', () => {
      if (!response.writableFinished) openConnections += 1
    })
    const model = provider === 'gemini' ? (/models\/([^:]+):/.exec(url.pathname)?.[1] ?? '') : String(body.model)
    const refusal = findRefusal({ provider, place: basePath, request, body, url, seen: { model, signatures } })
    if (refusal) return send(response, refusal.status, errorBody(provider, refusal.status, refusal.message))
    if (script.length === 0) script.push(...(next?.() ?? []))
    next = undefined
    const turn = script.shift() ?? defaultTurn?.(providerRequest) ?? greeting
    await play(turn, { provider, model, body, url, response })
  }

  /** Serves each provider's model list. Rejects invalid keys with the provider's own error. */
  function listModels({ url = '/', headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(url, 'http://provider')
    const [, basePath = ''] = pathname.split('/')
    const isList = pathname.endsWith(basePath === 'anthropic' ? '/v1/models' : '/models')
    const key = readCredential(headers)
    const list = [{ id: `${basePath}-model`, name: `models/${basePath}-model` }]
    if (!isList) send(response, 404, {})
    else if (key === providerKeys[basePath])
      send(response, 200, basePath === 'gemini' ? { models: list } : { object: 'list', data: list })
    else {
      const message = `Incorrect API key provided: ${key}.`
      const body = { error: { message, details: [{ reason: 'API_KEY_INVALID' }] } }
      send(response, basePath === 'gemini' ? 400 : 401, body)
    }
  }

  type Stage = { provider: ProviderName; model: string; body: Wire; url: URL; response: ServerResponse }

  async function play(turn: Turn, { provider, model, body, url, response }: Stage): Promise<void> {
    if ('cut' in turn) return void response.destroy()
    if ('status' in turn) {
      const text = turn.body ?? errorBody(provider, turn.status, `The fake says ${turn.status}.`)
      return send(response, turn.status, text, turn.headers)
    }
    if (provider === 'embeddings' && !('frames' in turn)) {
      await turn.until
      return send(response, 200, embeddingsJson(turn.usage?.input, body))
    }
    const streams = provider === 'gemini' ? url.pathname.includes('stream') : body.stream === true
    if ('parts' in turn) for (const part of turn.parts) keepSignature(part, signatures)
    if (!('frames' in turn) && !streams) {
      await turn.until
      return send(response, 200, writers[provider].json(turn, model))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const usage = body.stream_options?.include_usage === true
    const frames = 'frames' in turn ? turn.frames : writers[provider].frames(turn, { model, usage })
    for (const [index, frame] of frames.entries()) {
      if (index === frames.length - endFrames && 'until' in turn) await turn.until
      written += 1
      if (!response.write(frame)) await once(response, 'drain')
    }
    const end = 'frames' in turn ? turn.after : undefined
    if (end === 'cut') response.write('', () => response.destroy())
    else if (end !== 'silence') response.end()
  }

  function findRefusal({
    provider,
    place,
    request,
    body,
    url,
    seen,
  }: {
    provider: ProviderName
    place: string
    request: IncomingMessage
    body: Wire
    url: URL
    seen: RuleContext
  }): { status: number; message: string } | undefined {
    const { headers } = request
    const key =
      headers.authorization?.replace('Bearer ', '') ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? 'none'
    if (key !== providerKeys[place]) return { status: 401, message: `Incorrect API key provided: ${String(key)}.` }
    if (provider === 'responses' && !options.responses) return { status: 404, message: 'Not Found' }
    if (provider === 'anthropic' && headers['anthropic-version'] === undefined)
      return { status: 400, message: 'anthropic-version: header is required' }
    if (provider === 'gemini' && url.pathname.includes('stream') && url.searchParams.get('alt') !== 'sse')
      return { status: 400, message: 'alt' }
    const message = writers[provider].rules(body, seen)
    return message === undefined
      ? undefined
      : { status: message.includes('only supported in v1/responses') ? 404 : 400, message }
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  /** Paths of the base URLs. Each starts with the name of its provider. */
  const paths: Readonly<Record<string, string>> = {
    a: 'openai/v1',
    b: 'anthropic',
    c: 'gemini/v1beta',
    d: 'moonshot/v1',
    e: 'qwen/v1',
    'local:shed': 'local/v1',
  }
  return {
    requests,
    /** Scripts the next requests, in order. */
    play: (...turns: Turn[]) => void script.push(...turns),
    /** Derives the turns from the first request. */
    playThen(turns: () => Turn[]): void {
      next = turns
    },
    providerOf(place: string) {
      const path = paths[place]
      if (path === undefined) return { baseUrl: '', apiKey: undefined }
      return { baseUrl: `${origin}/${path}`, apiKey: providerKeys[path.replace(/\/.*/, '')] }
    },
    /** Sets the default turn, used when no scripted turn remains. */
    playAlways(turn: (request: ProviderRequest) => Turn): void {
      defaultTurn = turn
    },
    /** Simulates an OpenAI-compatible server that supports only chat completions. */
    withoutResponses: () => {
      options = { responses: false }
    },
    leftConnections: () => openConnections,
    writtenFrames: () => written,
    /** Resets all state between tests. */
    clear(): void {
      script.length = 0
      defaultTurn = undefined
      requests.length = 0
      openConnections = 0
      written = 0
      options = { responses: true }
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const greeting: ScriptedAnswer = {
  parts: [{ text: 'Hello from a fake.' }],
  usage: { input: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 5, reasoning: 0 },
}
/** Number of final frames that report the finish reason and the usage, the same for every provider. */
const endFrames = 3

const writers: Record<ProviderName, Writer> = {
  openai: { rules: openAiRules, json: chatJson, frames: chatFrames },
  moonshot: { rules: moonshotRules, json: chatJson, frames: chatFrames },
  qwen: { rules: qwenRules, json: chatJson, frames: chatFrames },
  local: { rules: () => undefined, json: chatJson, frames: chatFrames },
  responses: { rules: responsesRules, json: responsesJson, frames: (it, { model }) => responsesFrames(it, model) },
  embeddings: { rules: embeddingsRules, json: () => ({}), frames: () => [] },
  anthropic: { rules: anthropicRules, json: messagesJson, frames: messagesFrames },
  gemini: { rules: geminiRules, json: geminiJson, frames: geminiFrames },
}
type Writer = {
  rules: (body: Wire, seen: RuleContext) => string | undefined
  json: (answer: ScriptedAnswer, model: string) => unknown
  frames: (answer: ScriptedAnswer, options: { model: string; usage: boolean }) => string[]
}

function readCredential(headers: IncomingMessage['headers']): string {
  const key = headers.authorization?.replace('Bearer ', '') ?? headers['x-api-key'] ?? headers['x-goog-api-key']
  return String(key ?? 'none')
}

function keepSignature(part: ScriptedAnswer['parts'][number], signatures: Set<string>): void {
  if ('signature' in part && part.signature !== undefined) signatures.add(part.signature)
  if ('redacted' in part) signatures.add(part.redacted)
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

function errorBody(provider: ProviderName, status: number, message: string): unknown {
  if (provider === 'anthropic')
    return { type: 'error', error: { type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', message } }
  if (provider === 'gemini') return { error: { code: status, message, status: 'INVALID_ARGUMENT' } }
  return { error: { message, type: 'invalid_request_error', code: null, param: null } }
}
