import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'undici'
import { readFirstBytes } from '#platform/parsing/boundedBytes.ts'
import { InferenceError } from '../inferenceError.ts'
import { sendUpstreamRequest, type UpstreamReply } from './upstreamRequest.ts'

/** Timeouts in milliseconds. */
export type UpstreamDeadlines = {
  connect: number
  /** Time until the status. Thinking models respond late unless they stream. */
  firstByte: number
  /** Time between two chunks of a response. */
  idle: number
  /** Delay before the only retry. */
  retry: number
}

export const defaultDeadlines: UpstreamDeadlines = { connect: 10_000, firstByte: 600_000, idle: 300_000, retry: 250 }
/** Shorter than the idle timeout of providers, so that no request is written to a connection that is being closed. */
const keepAliveMs = 4_000
/** Longest `retry-after` that is retried. Longer ones are reported to the caller. */
const maxRetryMs = 2_000
const maxErrorBytes = 256 * 1024

export type UpstreamCall = { url: string; headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal }
export type UpstreamPools = ReturnType<typeof createUpstreamPools>

/**
 * Not `import()`: after a restart of the service, Node 24.9 returned an empty module for this package from its compile
 * cache.
 */
const load = createRequire(import.meta.url)

/** Connections to the providers. undici is loaded with the first call, because loading takes 130 ms. */
export function createUpstreamPools(deadlines: UpstreamDeadlines = defaultDeadlines) {
  const pools = new Map<string, Pool>()
  let closed = false

  function getPool(origin: string): Pool {
    const existing = pools.get(origin)
    if (existing) return existing
    const { Pool } = load('undici') as typeof import('undici') // the type that `load` resolves to
    if (closed) throw new InferenceError('overloaded', 'The service is closing.')
    const pool = new Pool(origin, {
      connect: { timeout: deadlines.connect },
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs * 10,
      headersTimeout: deadlines.firstByte,
      bodyTimeout: deadlines.idle,
    })
    pools.set(origin, pool)
    return pool
  }

  async function sendOnce({ url, headers, body, signal }: UpstreamCall): Promise<UpstreamReply> {
    const { origin, pathname, search } = new URL(url)
    const pool = getPool(origin)
    return await sendUpstreamRequest(pool, {
      path: pathname + search,
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', ...headers },
      body,
      signal,
    })
  }

  /**
   * Sends a request. Retries once if the provider has not processed it: it was unreachable, or reported immediately
   * that it is overloaded.
   * @throws InferenceError if no status arrived, or the reason of an aborted signal
   */
  async function send(call: UpstreamCall): Promise<UpstreamReply> {
    try {
      const reply = await sendOnce(call)
      const delayMs = getBusyDelayMs(reply, deadlines.retry)
      if (delayMs === undefined) return reply
      await drop(reply.body)
      await wait(delayMs, undefined, { signal: call.signal })
    } catch (error) {
      call.signal.throwIfAborted()
      if (!isUnreachable(error)) throw createNoResponseError(error)
      await wait(deadlines.retry, undefined, { signal: call.signal })
    }
    try {
      return await sendOnce(call)
    } catch (error) {
      call.signal.throwIfAborted()
      throw createNoResponseError(error)
    }
  }

  return {
    send,
    async close(): Promise<void> {
      closed = true
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}

/** Reads the beginning of an error response. */
export async function readErrorText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const { bytes } = await readFirstBytes(body, { maxBytes: maxErrorBytes })
  return bytes.toString('utf8')
}

/** Creates the error for callers when a response breaks off. */
export function createBrokenResponseError(error: unknown): InferenceError {
  if (error instanceof InferenceError) return error
  const late = readCode(error) === 'UND_ERR_BODY_TIMEOUT'
  if (late) return new InferenceError('timeout', 'The provider stopped responding mid-stream.', { cause: error })
  return new InferenceError('upstream', 'The provider ended its response early.', { reason: 'cut', cause: error })
}

async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await readErrorText(body)
  } catch {
    // the body is not needed
  }
}

function getBusyDelayMs({ status, headers }: UpstreamReply, defaultMs: number): number | undefined {
  if (status !== 503 && status !== 529) return undefined
  const header = headers['retry-after']
  if (header === undefined) return defaultMs
  const ms = Number(header) * 1000
  return Number.isFinite(ms) && ms <= maxRetryMs ? Math.max(ms, defaultMs) : undefined
}

const unreachableCodes = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'EPIPE',
]

function isUnreachable(error: unknown): boolean {
  return unreachableCodes.includes(readCode(error) ?? '')
}

function readCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string') return code
  // With several addresses, the error of the first one.
  return error instanceof AggregateError ? readCode(error.errors[0]) : undefined
}

/** Hides the provider's URL from the caller. */
function createNoResponseError(error: unknown): InferenceError {
  if (error instanceof InferenceError) return error
  if (readCode(error) === 'UND_ERR_HEADERS_TIMEOUT') {
    return new InferenceError('timeout', 'The provider did not respond in time.', { cause: error })
  }
  const message = isUnreachable(error) ? 'The provider cannot be reached.' : 'The provider closed the connection.'
  return new InferenceError('upstream', message, { reason: 'unreachable', cause: error })
}
