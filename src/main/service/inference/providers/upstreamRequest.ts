import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

export type UpstreamReply = {
  status: number
  headers: IncomingHttpHeaders
  /** Can be read once and applies backpressure. Ending the iteration early closes the connection. */
  body: AsyncIterable<Uint8Array>
}

type RequestOptions = { path: string; headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal }
type Controller = Pick<Dispatcher.DispatchController, 'abort' | 'pause' | 'resume'>
type PendingRead = { resolve(result: IteratorResult<Uint8Array, undefined>): void; reject(error: unknown): void }

/** Maximum bytes buffered for a consumer that is slower than the provider. */
const maxBufferedBytes = 64 * 1024

/**
 * Sends a request by undici's handlers. `request()` of undici creates a Node stream for each body, which costs more
 * than everything else.
 * @throws errors of the connection, or the reason of the signal
 */
export function sendUpstreamRequest(
  pool: Pick<Dispatcher, 'dispatch'>,
  options: RequestOptions,
): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    const { path, headers, body, signal } = options
    const reply = createReplyBody()
    const onDisconnect = (): void => {
      reject(signal.reason)
      reply.fail(signal.reason)
      reply.flow?.abort(signal.reason)
    }
    const over = (): void => signal.removeEventListener('abort', onDisconnect)
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', onDisconnect, { once: true })
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart(controller) {
          reply.flow = controller
          if (signal.aborted) controller.abort(signal.reason)
        },
        onResponseStart(_, status, received) {
          // informational responses such as 103 come first
          if (status >= 200) resolve({ status, headers: received, body: reply.body })
        },
        onResponseData: (_, piece) => reply.push(piece),
        onResponseEnd() {
          over()
          reply.end()
        },
        onResponseError(_, error) {
          over()
          reject(error)
          reply.fail(error)
        },
      },
    )
  })
}

function createReplyBody() {
  const chunks: Uint8Array[] = []
  let bufferedBytes = 0
  let state: 'open' | 'ended' | 'failed' = 'open'
  let error: unknown
  let taker: PendingRead | undefined

  function close(as: 'ended' | 'failed'): void {
    state = as
    const waiting = taker
    taker = undefined
    if (as === 'ended') waiting?.resolve(done)
    else waiting?.reject(error)
  }

  const pieces: AsyncIterator<Uint8Array, undefined> = {
    next() {
      const piece = chunks.shift()
      if (piece) {
        bufferedBytes -= piece.length
        if (bufferedBytes < maxBufferedBytes) reply.flow?.resume()
        return Promise.resolve({ done: false, value: piece })
      }
      if (state === 'ended') return Promise.resolve(done)
      if (state === 'failed') return Promise.reject(error)
      return new Promise((resolve, reject) => {
        taker = { resolve, reject }
      })
    },
    return() {
      chunks.length = 0
      if (state === 'open') {
        close('ended')
        reply.flow?.abort(new Error('The response was aborted.'))
      }
      return Promise.resolve(done)
    },
  }

  const reply = {
    /** Set after the request has started. */
    flow: undefined as Controller | undefined,
    body: { [Symbol.asyncIterator]: () => pieces },
    push(piece: Uint8Array): void {
      if (state !== 'open') return
      if (taker) {
        const waiting = taker
        taker = undefined
        waiting.resolve({ done: false, value: piece })
        return
      }
      chunks.push(piece)
      bufferedBytes += piece.length
      if (bufferedBytes >= maxBufferedBytes) reply.flow?.pause()
    },
    end(): void {
      if (state === 'open') close('ended')
    },
    /** Rejects the consumer after the data that was received before. */
    fail(cause: unknown): void {
      if (state !== 'open') return
      error = cause
      close('failed')
    },
  }
  return reply
}

const done = { done: true, value: undefined } as const
