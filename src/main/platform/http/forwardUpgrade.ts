import { type ClientRequest, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import { formatHead } from './endToEndHeaders.ts'
import type { Upgrade } from './exchange.ts'
import { assertStatus, beginForwarding, type ProxyOptions, reachUpstream } from './forwardRequest.ts'
import { isWebSocketUpgrade } from './webSocketUpgrade.ts'

/** Maximum buffered bytes: a WebSocket client may send before the handshake response. */
const maxReadAheadBytes = 64 * 1024

/**
 * Connects a WebSocket of the client to an upstream server. After the handshake, bytes pass unchanged in both
 * directions, so that frames, pings and close codes are end-to-end. Resolves when the connection has closed. If either
 * side disconnects, the other connection is closed.
 * @throws AppError from `toError`, while an error response is still possible
 */
export async function forwardUpgrade({ request, stream, head }: Upgrade, forwarding: ProxyOptions): Promise<void> {
  const { toError, idleMs } = forwarding
  request.socket.setTimeout(idleMs, () => stream.destroy())
  const ahead = readAhead(stream, head)
  const controller = new AbortController()
  stream.once('close', () => controller.abort())
  let upstreamRequest: ClientRequest | undefined
  const abort = (): void => void upstreamRequest?.destroy(new Error('The client disconnected.'))
  controller.signal.addEventListener('abort', abort)
  try {
    const begin = await reachUpstream(forwarding, controller.signal)
    upstreamRequest = beginForwarding(begin, switched, toError)
    if (stream.destroyed) abort()
    const { answer, agreed } = await answerTo(upstreamRequest, forwarding)
    const status = agreed ? 101 : assertStatus(answer, toError)
    const { reason, headers } = forwarding.answerHead(answer)
    const connection = agreed ? switched : { connection: 'close' }
    stream.write(formatHead(status, reason ?? STATUS_CODES[status] ?? 'Answer', { ...headers, ...connection }))
    if (agreed) await join(stream, { ...agreed, earlyBytes: ahead.take() })
    else await pipeline(answer, stream).catch(() => {}) // both sides are closed by then
    stream.destroy()
  } finally {
    ahead.stop()
    upstreamRequest?.destroy()
  }
}

const switched = { connection: 'Upgrade', upgrade: 'websocket' } as const

type Joined = { upstream: Duplex; firstBytes: Buffer; earlyBytes: Buffer }

async function join(stream: Duplex, { upstream, firstBytes, earlyBytes }: Joined): Promise<void> {
  stream.write(firstBytes)
  upstream.write(earlyBytes)
  await Promise.allSettled([pipeline(upstream, stream), pipeline(stream, upstream)])
  upstream.destroy()
}

/**
 * Reads from the client before the upstream server has accepted, because a disconnect is only noticed while reading.
 * `take` returns the data read so far and stops reading.
 */
function readAhead(stream: Duplex, head: Buffer): { take(): Buffer; stop(): void } {
  const pieces = [head]
  let bytes = head.length
  const keep = (piece: Buffer): void => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > maxReadAheadBytes) stream.pause()
  }
  const destroy = (): void => void stream.destroy()
  stream.on('data', keep)
  stream.once('end', destroy)
  const release = (): void => void stream.off('data', keep).off('end', destroy)
  return {
    take() {
      stream.pause()
      release()
      return Buffer.concat(pieces)
    },
    stop() {
      release()
      stream.resume()
    },
  }
}

type Answered = { answer: IncomingMessage; agreed: { upstream: Duplex; firstBytes: Buffer } | undefined }

function answerTo(upstreamRequest: ClientRequest, { answerMs, toError }: ProxyOptions): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => upstreamRequest.destroy(toError('late')), answerMs)
    const settle = (notify: () => void): void => {
      clearTimeout(late)
      notify()
    }
    upstreamRequest.once('upgrade', (answer, upstream, firstBytes) => {
      upstream.on('error', () => upstream.destroy()) // handled by `close`
      if (isWebSocketUpgrade(answer)) settle(() => resolve({ answer, agreed: { upstream, firstBytes } }))
      else {
        upstream.destroy()
        settle(() => reject(toError('protocol')))
      }
    })
    upstreamRequest.once('response', (answer) => settle(() => resolve({ answer, agreed: undefined })))
    upstreamRequest.on('error', (cause) =>
      settle(() => reject(cause instanceof AppError ? cause : toError('broken', cause))),
    )
    upstreamRequest.end()
  })
}
