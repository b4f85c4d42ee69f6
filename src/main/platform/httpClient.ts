import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plainRequest,
} from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { readBytes } from './boundedBytes.ts'
import { ignoreLateErrors } from './http/lateErrors.ts'

/** Asks servers. Its connections stay open for what is asked next. */
export type HttpClient = {
  /** Reads the answer whole. @throws Error when there is no whole answer; what the server answered is none */
  ask(url: string, request: HttpRequest): Promise<HttpAnswer>
  /**
   * The answer as it comes: it is read to its end or left by the request's signal.
   * @throws Error when there is no answer; its body throws when it breaks off
   */
  open(url: string, request: HttpRequest): Promise<OpenAnswer>
  close(): void
}

export type HttpRequest = {
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** Ends it, also while the answer comes. */
  signal: AbortSignal
}

export type HttpAnswer = { status: number; text: string }
export type OpenAnswer = { status: number; headers: IncomingHttpHeaders; body: AsyncIterable<Uint8Array> }

type Options = {
  /** A longer answer is a failure. */
  maxAnswerBytes: number
  /** Connects to the server of http:// addresses, wherever they lead. */
  connect?: (() => Socket) | undefined
  /** Replaces the DNS lookup of the system. */
  lookup?: LookupFunction | undefined
  /** TLS options for `https:` URLs. */
  tls?: Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'> | undefined
}

const connectMs = 10_000
/** Shorter than any server keeps a connection that is not used: none is lost while it is written to. */
const idleMs = 4_000

/**
 * Uses `node:http`, which every process has already loaded. undici would add 130 ms and 18 MB to each start, for
 * pipelining and decompression that nothing here needs.
 */
export function createHttpClient({ maxAnswerBytes, connect, lookup, tls }: Options): HttpClient {
  const plainAgent = new PlainAgent({ keepAlive: true, timeout: idleMs })
  if (connect) plainAgent.createConnection = connect
  const tlsAgent = new TlsAgent({ keepAlive: true, timeout: idleMs, ...tls })

  const sendRequest = (url: string, { method, headers, body, signal }: HttpRequest): Promise<IncomingMessage> => {
    const target = new URL(url)
    const options = {
      method,
      signal,
      ...(lookup && { lookup }),
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    }
    const request =
      target.protocol === 'https:'
        ? tlsRequest(target, { ...options, agent: tlsAgent })
        : plainRequest(target, { ...options, agent: plainAgent })
    return waitForResponse(request, body)
  }

  return {
    async ask(url, request) {
      const answer = await sendRequest(url, request)
      return { status: answer.statusCode ?? 0, text: await readText(answer, maxAnswerBytes) }
    },
    async open(url, request) {
      const answer = await sendRequest(url, request)
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer }
    },
    close() {
      plainAgent.destroy()
      tlsAgent.destroy()
    },
  }
}

function waitForResponse(request: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    request.on('error', reject)
    ignoreLateErrors(request)
    request.once('socket', (socket) => {
      if (!socket.connecting) return
      const late = setTimeout(() => request.destroy(new Error(`No connection after ${connectMs / 1000} s.`)), connectMs)
      const stop = () => clearTimeout(late)
      socket.once('connect', stop).once('close', stop)
    })
    request.end(body)
  })
}

const createTooLargeError = (): Error => new Error('The answer is too large.')

/** @throws Error if the response is too long or incomplete */
export async function readText(answer: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  return (await readBytes(answer, { maxBytes, tooLarge: createTooLargeError })).toString('utf8')
}
