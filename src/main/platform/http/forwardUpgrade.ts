import { type ClientRequest, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import { headText } from './endToEndHeaders.ts'
import type { Upgrade } from './exchange.ts'
import { begun, checkedStatus, type Forwarding, reached } from './forwardRequest.ts'
import { isWebSocketUpgrade } from './webSocketUpgrade.ts'

/** A client of a WebSocket waits for the answer; what it sends before is kept up to this. */
const mostAheadBytes = 64 * 1024

/**
 * Joins a WebSocket of the client with one of another server: once that has agreed, bytes go both ways untouched, so
 * frames, pings and close codes are those of the two ends. Resolves when it is over. Either end that leaves takes the
 * other along.
 * @throws AppError of `failure`, while it can still be answered
 */
export async function forwardUpgrade({ request, stream, head }: Upgrade, forwarding: Forwarding): Promise<void> {
  const { failure, idleMs } = forwarding
  request.socket.setTimeout(idleMs, () => stream.destroy())
  const ahead = readAhead(stream, head)
  const left = new AbortController()
  stream.once('close', () => left.abort())
  let asked: ClientRequest | undefined
  const leave = (): void => void asked?.destroy(new Error('The client has left.'))
  left.signal.addEventListener('abort', leave)
  try {
    const begin = await reached(forwarding, left.signal)
    asked = begun(begin, switched, failure)
    if (stream.destroyed) leave()
    const { answer, agreed } = await answerTo(asked, forwarding)
    const status = agreed ? 101 : checkedStatus(answer, failure)
    const { reason, headers } = forwarding.answerHead(answer)
    const connection = agreed ? switched : { connection: 'close' }
    stream.write(headText(status, reason ?? STATUS_CODES[status] ?? 'Answer', { ...headers, ...connection }))
    if (agreed) await join(stream, { ...agreed, sent: ahead.take() })
    else await pipeline(answer, stream).catch(() => {}) // both ends are gone by then
    stream.destroy()
  } finally {
    ahead.stop()
    asked?.destroy()
  }
}

const switched = { connection: 'Upgrade', upgrade: 'websocket' } as const

type Joined = { upstream: Duplex; firstBytes: Buffer; sent: Buffer }

async function join(stream: Duplex, { upstream, firstBytes, sent }: Joined): Promise<void> {
  stream.write(firstBytes)
  upstream.write(sent)
  await Promise.allSettled([pipeline(upstream, stream), pipeline(stream, upstream)])
  upstream.destroy()
}

/**
 * Reads while the other server has not agreed yet: only who reads is told that the client has left, which ends the
 * stream. `take` gives what came before, and leaves the rest to others.
 */
function readAhead(stream: Duplex, head: Buffer): { take(): Buffer; stop(): void } {
  const pieces = [head]
  let bytes = head.length
  const keep = (piece: Buffer): void => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > mostAheadBytes) stream.pause()
  }
  const leave = (): void => void stream.destroy()
  stream.on('data', keep)
  stream.once('end', leave)
  const release = (): void => void stream.off('data', keep).off('end', leave)
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

function answerTo(asked: ClientRequest, { answerMs, failure }: Forwarding): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => asked.destroy(failure('late')), answerMs)
    const settle = (tell: () => void): void => {
      clearTimeout(late)
      tell()
    }
    asked.once('upgrade', (answer, upstream, firstBytes) => {
      upstream.on('error', () => upstream.destroy()) // `close` tells
      if (isWebSocketUpgrade(answer)) settle(() => resolve({ answer, agreed: { upstream, firstBytes } }))
      else {
        upstream.destroy()
        settle(() => reject(failure('protocol')))
      }
    })
    asked.once('response', (answer) => settle(() => resolve({ answer, agreed: undefined })))
    asked.on('error', (cause) => settle(() => reject(cause instanceof AppError ? cause : failure('broken', cause))))
    asked.end()
  })
}
