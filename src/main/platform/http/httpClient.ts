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
import { readBytes } from '../parsing/boundedBytes.ts'
import { ignoreLateErrors } from './lateErrors.ts'

/** HTTP client that reuses its connections. */
export type HttpClient = {
  /** Reads the whole response. @throws Error if there is no complete response. An error status does not throw. */
  ask(url: string, request: HttpRequest): Promise<HttpResponse>
  /**
   * Returns the response as a stream. Read it to its end or abort the request's signal.
   * @throws Error if there is no response; its body throws if the connection breaks
   */
  open(url: string, request: HttpRequest): Promise<StreamedHttpResponse>
  close(): void
}

export type HttpRequest = {
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** Aborts the request, including while the response is read. */
  signal: AbortSignal
}

export type HttpResponse = { status: number; text: string }
export type StreamedHttpResponse = { status: number; headers: IncomingHttpHeaders; body: AsyncIterable<Uint8Array> }

type Options = {
  /** A longer response is an error. */
  maxAnswerBytes: number
  /** Creates the connection for `http:` URLs, regardless of their host. */
  connect?: (() => Socket) | undefined
  lookup?: LookupFunction | undefined
  /** TLS options for `https:` URLs. */
  tls?: Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'> | undefined
}

const connectMs = 10_000
/**
 * Shorter than the idle timeout of any server, so that a request is never sent on a connection that the server is
 * closing.
 */
const idleMs = 4_000

/**
 * Uses `node:http`, which is already loaded in every process. undici would add 130 ms and 18 MB to each start, for
 * pipelining and decompression that are not needed here.
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
      const late = setTimeout(
        () => request.destroy(new Error(`No connection within ${connectMs / 1000} s.`)),
        connectMs,
      )
      const stop = () => clearTimeout(late)
      socket.once('connect', stop).once('close', stop)
    })
    request.end(body)
  })
}

/** The body of a response exceeds its limit. */
export class ResponseTooLargeError extends Error {
  constructor() {
    super('The response is too large.')
    this.name = 'ResponseTooLargeError'
  }
}

/** @throws ResponseTooLargeError, or Error if the response is incomplete */
export async function readText(answer: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  return (await readBytes(answer, { maxBytes, tooLarge: () => new ResponseTooLargeError() })).toString('utf8')
}
