import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../shared/appError.ts'
import type { Log } from '../../platform/log.ts'
import type { HostCalls } from '../host/hostCalls.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { dropRest, toAppError } from './errorAnswers.ts'
import { openPreviews } from './openPreviews.ts'
import type { PreviewAccess } from './previewAccess.ts'
import { type Admitted, insideHeaders, outsideHeaders, statusOf } from './previewHeaders.ts'
import { answerOpenPage, answerPreviewFailure, openPath } from './previewPages.ts'
import { previewUpgrade } from './previewUpgrade.ts'

export type PreviewOptions = {
  server: Server
  names: Pick<PortNames, 'labelOf'>
  ports: Pick<ExposedPorts, 'named'>
  sandbox: (id: PortRecord['sandboxId']) => SandboxRecord | undefined
  access: PreviewAccess
  connect: HostCalls['connect']
  scheme: 'http' | 'https'
  behindProxy: boolean
  closing: AbortSignal
  log: Log
}

export type Previews = {
  /** Some credential, address or sandbox may have ended: cuts off whoever would not be let in any more. */
  checkAccess(): void
  close(): void
}

const connectMs = 30_000
/** From the end of the request to the first line of the answer. */
const answerMs = 300_000
/** Without a byte either way. */
const idleMs = 3_600_000

/**
 * Takes every request to the address of a port off the server before its own handlers see it, and streams it to the
 * port inside the sandbox. `close` cuts off what is under way.
 */
export function previews(options: PreviewOptions): Previews {
  const { server, names, log } = options
  const open = new Set<Duplex>()
  const underWay = openPreviews(options)
  const admit = (request: IncomingMessage) => admitted(request, options)
  const connect = async (port: PortRecord, left: AbortSignal): Promise<Duplex> => {
    const inside = await reach(port, left, options)
    open.add(inside)
    inside.once('close', () => open.delete(inside))
    return inside
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const left = new AbortController()
    response.once('close', () => left.abort())
    response.setTimeout(idleMs, () => response.destroy())
    let forget = () => {}
    try {
      if (request.url?.split('?')[0] === openPath) {
        answerOpenPage(request, response, options.scheme === 'https' || options.behindProxy)
        return
      }
      const { port, headers } = admit(request)
      forget = underWay.add({ request, port, cut: () => response.destroy() })
      const inside = await connect(port, left.signal)
      await forward({ request, response, inside, port, headers, left: left.signal })
    } catch (failure) {
      if (response.destroyed) return
      const known = toAppError(failure, log, { method: request.method ?? '', path: 'a port' })
      if (response.headersSent) response.destroy()
      else {
        dropRest(request)
        answerPreviewFailure(request, response, known)
      }
    } finally {
      forget()
    }
  }

  const api = server.listeners('request')
  const choose = (request: IncomingMessage, response: ServerResponse): void => {
    if (names.labelOf(request.headers.host) !== undefined) void answer(request, response)
    else for (const listener of api) listener.call(server, request, response)
  }
  server.removeAllListeners('request')
  server.on('request', choose)
  const upgrade = previewUpgrade({ names, admit, underWay, connect, idleMs, answerMs, log })
  server.on('upgrade', upgrade)

  return {
    checkAccess: underWay.checkAccess,
    close() {
      server.off('upgrade', upgrade)
      underWay.close()
      for (const inside of open) inside.destroy()
    },
  }
}

function admitted(request: IncomingMessage, options: PreviewOptions): Admitted {
  if (options.closing.aborted) throw new AppError('service/unavailable', 'The service is stopping.')
  if (!request.url?.startsWith('/')) throw new AppError('request/invalid', 'The address must be a path.')
  const port = options.ports.named(options.names.labelOf(request.headers.host) ?? '')
  if (!port) throw new AppError('port/not-found', 'No port is exposed at this address.')
  const spent = options.access.check(request, port)
  if (options.sandbox(port.sandboxId)?.status !== 'running') throw stopped()
  return { port, headers: insideHeaders(request, { ...options, spent }) }
}

async function reach(
  { sandboxId, port }: PortRecord,
  left: AbortSignal,
  { connect }: Pick<PreviewOptions, 'connect'>,
): Promise<Duplex> {
  const late = AbortSignal.timeout(connectMs)
  try {
    return await connect({ sandboxId, port }, AbortSignal.any([left, late]))
  } catch (failure) {
    if (late.aborted) throw noAnswer(port, failure)
    if (failure instanceof AppError && failure.code === 'sandbox/not-running') throw stopped(failure)
    throw failure
  }
}

function stopped(cause?: unknown): AppError {
  return new AppError('port/stopped', 'This sandbox is stopped.', { cause })
}

type Exchange = Admitted & {
  request: IncomingMessage
  response: ServerResponse
  inside: Duplex
  /** The visitor has gone: nobody waits for the answer. */
  left: AbortSignal
}

async function forward({ request, response, inside, port, headers, left }: Exchange): Promise<void> {
  const asked = httpRequest({
    createConnection: () => inside,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: {
      ...headers,
      // A body of unknown length is framed again: as raw bytes it could pass for another request.
      ...(request.headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    },
  })
  const leave = (): void => void asked.destroy(new Error('The visitor has left.'))
  left.addEventListener('abort', leave)
  if (left.aborted) leave()
  let timer: NodeJS.Timeout | undefined
  asked.once('finish', () => {
    timer = setTimeout(() => asked.destroy(noAnswer(port.port)), answerMs)
  })
  try {
    const answer = await answerTo(asked, request, port.port)
    clearTimeout(timer)
    response.writeHead(statusOf(answer, port.port), answer.statusMessage, outsideHeaders(answer))
    response.flushHeaders()
    await pipeline(answer, response)
    dropRest(request)
  } finally {
    clearTimeout(timer)
    left.removeEventListener('abort', leave)
    asked.destroy()
    inside.destroy()
  }
}

/** Sends the body along, and stops when the port answers before it has taken all of it. */
function answerTo(asked: ClientRequest, request: IncomingMessage, port: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once('response', resolve)
    // It goes on in another protocol that the visitor has not asked for.
    asked.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(new AppError('port/failed', `The server on port ${port} changed the protocol unasked.`))
    })
    asked.on('error', (failure) => {
      request.unpipe(asked)
      reject(failure instanceof AppError ? failure : brokenOff(port, failure))
    })
    request.pipe(asked)
  })
}

function noAnswer(port: number, cause?: unknown): AppError {
  return new AppError('port/late', `The server on port ${port} did not answer in time.`, { cause })
}

function brokenOff(port: number, cause: unknown): AppError {
  return new AppError('port/failed', `The server on port ${port} broke off before it answered.`, { cause })
}
