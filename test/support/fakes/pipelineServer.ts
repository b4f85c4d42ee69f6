import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import type { BaseCall, Endpoint } from '#platform/http/endpoint.ts'
import { createHttpServer } from '#platform/http/httpServer.ts'
import { createOncePerKey } from '#platform/http/oncePerKey.ts'
import { createRequestPipeline, type PipelineOptions } from '#platform/http/requestPipeline.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { Answer as AnswerOf, Parsed, Route } from '#shared/contract/route.ts'

/** Minimal request pipeline. Accepts any key, and stores responses in memory. */
export type TestCall = BaseCall & { who: string }
type Options = {
  endpoints: readonly Endpoint<TestCall>[]
  /** Records the stages in the order in which they run. */
  stages?: string[]
  heartbeatMs?: number
  lease?: PipelineOptions<Endpoint<TestCall>, string, TestCall>['lease']
}

export function testEndpoint<R extends Route>(
  route: R,
  handle: (input: Parsed<R>, call: TestCall, settlement?: unknown) => AnswerOf<R> | Promise<AnswerOf<R>> | object,
  more: Omit<Endpoint<TestCall>, 'route' | 'handle'> = {},
): Endpoint<TestCall> {
  return { route, handle: handle as Endpoint<TestCall>['handle'], ...more }
}

export async function pipelineServer({ endpoints, stages = [], heartbeatMs, lease }: Options) {
  const closing = new AbortController()
  const responses = new Map<string, { requestHash: Buffer; answer: { status: number; body: string } }>()
  const repetitions = createOncePerKey<{ status: number; body: string }>(({ holder, key }) =>
    responses.get(`${holder} ${key}`),
  )
  const half: PipelineOptions<Endpoint<TestCall>, string, TestCall> = {
    endpoints,
    socketPaths: ['/socket'],
    pages: [],
    guard: ({ headers }) => {
      stages.push('guard')
      if (headers.origin !== undefined) throw new AppError('auth/origin', 'No pages here.')
    },
    authenticate: (_, { request }) => {
      stages.push('who')
      if (request.headers['x-api-key'] === undefined) throw new AppError('auth/required', 'An API key is required.')
      return String(request.headers['x-api-key'])
    },
    createCall: (who, call) => Object.assign(call, { who }),
    async once(who, request, work) {
      stages.push('idempotency')
      const { answer, replayed } = await repetitions.once({ ...request, holder: who }, async ({ requestHash }) => {
        const done = await work()
        responses.set(`${who} ${request.key}`, { requestHash, answer: done })
        return done
      })
      return { ...answer, replayed }
    },
    toFailure: (error, request) => server.toFailure(error, request),
    ...(heartbeatMs !== undefined && { heartbeatMs }),
    ...(lease && { lease }),
  }
  const server: ReturnType<typeof createHttpServer> = createHttpServer({
    tls: undefined,
    headers: { 'x-content-type-options': 'nosniff' },
    closing: closing.signal,
    answer: createRequestPipeline(half),
    upgrade: () => {
      throw new AppError('request/not-found', 'There is no WebSocket here.')
    },
    log: silentLog,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const close = async (): Promise<void> => {
    closing.abort()
    await server.close(0)
  }
  onTestFinished(close)
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    closing,
    ask: (path: string, { headers, ...more }: RequestInit & { headers?: Record<string, string> } = {}) =>
      fetch(`${url}${path}`, { ...more, headers: { 'x-api-key': 'ada', ...headers } }),
    /** Sends raw bytes and returns everything received until the server closes the connection. */
    raw: (text: string) => rawExchange(port, text),
  }
}

export function rawExchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    socket.write(text)
  })
}
