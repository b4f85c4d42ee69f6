import { request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../shared/appError.ts'
import type { Log } from '../../platform/log.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import { refuseUpgrade, toAppError } from './errorAnswers.ts'
import type { OpenPreviews } from './openPreviews.ts'
import { type Admitted, headerLines, outsideHeaders, statusOf } from './previewHeaders.ts'

type Options = {
  names: Pick<PortNames, 'labelOf'>
  admit: (request: IncomingMessage) => Admitted
  underWay: Pick<OpenPreviews, 'add'>
  connect: (port: PortRecord, left: AbortSignal) => Promise<Duplex>
  idleMs: number
  answerMs: number
  log: Log
}

/** A client of a WebSocket waits for the answer; what it sends before is kept up to this. */
const mostAheadBytes = 64 * 1024

/** Passes a WebSocket on to its port: once the port has agreed, bytes go both ways untouched. */
export function previewUpgrade(options: Options): (request: IncomingMessage, stream: Duplex, head: Buffer) => void {
  const { names, log } = options
  return (request, stream, head) => {
    if (names.labelOf(request.headers.host) === undefined) return
    stream.on('error', () => stream.destroy()) // `close` tells whoever serves it
    request.socket.setTimeout(options.idleMs, () => stream.destroy())
    join({ request, stream, head }, options).catch((failure: unknown) => {
      refuseUpgrade(stream, toAppError(failure, log, { method: 'GET', path: 'a port' }))
    })
  }
}

type Joining = { request: IncomingMessage; stream: Duplex; head: Buffer }

async function join({ request, stream, head }: Joining, options: Options): Promise<void> {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    throw new AppError('request/invalid', 'Only an upgrade to a WebSocket is passed on.')
  }
  const { port, headers } = options.admit(request)
  const forget = options.underWay.add({ request, port, cut: () => stream.destroy() })
  const left = new AbortController()
  stream.once('close', () => {
    forget()
    left.abort()
  })
  const sent = readAhead(stream, head)
  const inside = await options.connect(port, left.signal)
  left.signal.addEventListener('abort', () => inside.destroy())
  if (left.signal.aborted) inside.destroy()
  const { answer, rest, agreed } = await asked({ inside, headers, port, path: request.url ?? '/' }, options.answerMs)
  const status = agreed ? 101 : statusOf(answer, port.port)
  const own = agreed ? ['connection: Upgrade', 'upgrade: websocket'] : ['connection: close']
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Answer'}`,
    ...headerLines(outsideHeaders(answer)),
    ...own,
  ]
  stream.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (!agreed) {
    await pipeline(answer, stream).catch(() => stream.destroy())
    inside.destroy()
    return
  }
  if (rest.length > 0) stream.write(rest)
  inside.write(sent())
  await Promise.allSettled([pipeline(inside, stream), pipeline(stream, inside)])
  stream.destroy()
  inside.destroy()
}

/**
 * Reads while the port has not agreed yet: only who reads is told that the visitor has left, which ends the stream.
 * @returns what takes the bytes that came before, and leaves the rest to others
 */
function readAhead(stream: Duplex, head: Buffer): () => Buffer {
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
  return () => {
    stream.pause()
    stream.off('data', keep)
    stream.off('end', leave)
    return Buffer.concat(pieces)
  }
}

type Asking = Admitted & { inside: Duplex; path: string }
type Asked = { answer: IncomingMessage; rest: Buffer; agreed: boolean }

function asked({ inside, headers, path, port: { port } }: Asking, answerMs: number): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const ask = httpRequest({
      createConnection: () => inside,
      path,
      headers: { ...headers, connection: 'Upgrade', upgrade: 'websocket' },
    })
    const late = new AppError('port/late', `The server on port ${port} did not answer in time.`)
    const timer = setTimeout(() => ask.destroy(late), answerMs)
    const settle = (outcome: Asked): void => {
      clearTimeout(timer)
      resolve(outcome)
    }
    const refuse = (failure: AppError): void => {
      clearTimeout(timer)
      reject(failure)
    }
    ask.once('upgrade', (answer, _, rest) => {
      if (answer.headers.upgrade?.toLowerCase() === 'websocket') settle({ answer, rest, agreed: true })
      else refuse(new AppError('port/failed', `The server on port ${port} changed to another protocol.`))
    })
    ask.once('response', (answer) => settle({ answer, rest: Buffer.alloc(0), agreed: false }))
    ask.on('error', (cause) => {
      const broken = `The server on port ${port} broke off before it answered.`
      refuse(cause instanceof AppError ? cause : new AppError('port/failed', broken, { cause }))
    })
    ask.end()
  })
}
