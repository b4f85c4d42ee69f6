import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HeaderList } from '#platform/http/endToEndHeaders.ts'
import type { Exchange, Upgrade } from '#platform/http/exchange.ts'
import { drainBody } from '#platform/http/failures.ts'
import { forwardRequest, type ProxyErrorKind, type ProxyOptions } from '#platform/http/forwardRequest.ts'
import { forwardUpgrade } from '#platform/http/forwardUpgrade.ts'
import { AppError } from '#shared/appError.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { HostCalls } from '../host/hostCalls.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { FrameSessions } from '../ports/frameSessions.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { createOpenPreviews, findPort } from './openPreviews.ts'
import type { PreviewAccess } from './previewAccess.ts'
import type { PreviewCookies } from './previewCookies.ts'
import { type AdmittedRequest, toBrowserHeaders, toSandboxHeaders } from './previewHeaders.ts'
import { openPath, sendOpenPage, sendPreviewError } from './previewPages.ts'

export type PreviewOptions = {
  names: Pick<PortNames, 'findLabel'>
  ports: Pick<ExposedPorts, 'findByLabel'>
  sandbox: (id: PortRecord['sandboxId']) => Promise<SandboxRecord | undefined>
  access: PreviewAccess
  principals: Pick<ServicePrincipals, 'lease'>
  cookies: Pick<PreviewCookies, 'format' | 'formatFrame'>
  frames: Pick<FrameSessions, 'open'>
  connect: HostCalls['connect']
  scheme: 'http' | 'https'
  behindProxy: boolean
  toFailure(error: unknown, request: IncomingMessage): AppError
}

export type Previews = {
  answer(exchange: Exchange): Promise<void>
  /** @throws AppError while an HTTP response can still be sent */
  upgrade(upgrade: Upgrade): Promise<void>
  checkPorts(): Promise<void>
  /** Aborts exchanges in progress. */
  close(): void
}

const connectMs = 30_000
/** Time from the end of the request to the status line of the response, in milliseconds. */
const answerMs = 300_000
/** Time without data in both directions, in milliseconds. */
const idleMs = 3_600_000

/** Forwards requests for the URLs of ports to the ports inside their sandboxes, as streams. */
export function createPreviews(options: PreviewOptions): Previews {
  const open = new Set<Duplex>()
  const underWay = createOpenPreviews(options)
  const createForwarding = (
    request: IncomingMessage,
    { port, headers, frameOrigin }: AdmittedRequest,
  ): ProxyOptions => ({
    async reach(signal) {
      const inside = await connectToPort(port, signal, options)
      open.add(inside)
      inside.once('close', () => open.delete(inside))
      if (signal.aborted) inside.destroy()
      return (framing: HeaderList) =>
        httpRequest({
          createConnection: () => inside,
          method: request.method ?? 'GET',
          path: request.url ?? '/',
          headers: { ...headers, ...framing },
        })
    },
    answerHead: (answer) => ({ reason: answer.statusMessage, headers: toBrowserHeaders(answer, frameOrigin) }),
    answerMs,
    idleMs,
    toError: (kind, cause) => toForwardingError(port.port, kind, cause),
  })

  return {
    async answer(exchange) {
      const { request, response } = exchange
      let forget = () => {}
      try {
        if (request.url?.split('?')[0] === openPath) {
          await sendOpenPage(request, response, (token) => formatCookie(token, request, options))
          return
        }
        const admitted = await admit(request, options)
        const cut = (error?: AppError) => (error ? exchange.abort(error) : response.destroy())
        forget = await underWay.add({ ...admitted, request, work: 'preview-exchange', cut })
        await forwardRequest(exchange, createForwarding(request, admitted))
      } catch (cause) {
        if (response.destroyed || response.headersSent) throw cause
        drainBody(request)
        sendPreviewError(request, response, options.toFailure(exchange.abortError ?? cause, request))
      } finally {
        forget()
      }
    },
    async upgrade(upgrade) {
      const { request, stream } = upgrade
      const admitted = await admit(request, options)
      const forget = await underWay.add({ ...admitted, request, work: 'preview-socket', cut: () => stream.destroy() })
      if (stream.destroyed) return forget() // the client disconnected during the lookup
      stream.once('close', forget)
      await forwardUpgrade(upgrade, createForwarding(request, admitted))
    },
    checkPorts: underWay.checkPorts,
    close() {
      for (const inside of open) inside.destroy()
    },
  }
}

async function admit(request: IncomingMessage, options: PreviewOptions): Promise<AdmittedRequest> {
  const port = await findPort(request, options)
  if (!port) throw new AppError('port/not-found', 'No port is exposed at this address.')
  const { spent, frameOrigin, holder } = await options.access.check(request, port)
  if ((await options.sandbox(port.sandboxId))?.status !== 'running') throw createStoppedError()
  return { port, headers: toSandboxHeaders(request, { ...options, spent }), frameOrigin, holder }
}

async function formatCookie(token: string, request: IncomingMessage, options: PreviewOptions): Promise<string> {
  const port = await findPort(request, options)
  const session = port && (await options.frames.open(token, port))
  return session === undefined ? options.cookies.format(token) : options.cookies.formatFrame(session)
}

async function connectToPort(
  { sandboxId, port }: PortRecord,
  signal: AbortSignal,
  { connect }: Pick<PreviewOptions, 'connect'>,
): Promise<Duplex> {
  const late = AbortSignal.timeout(connectMs)
  try {
    return await connect({ sandboxId, port }, AbortSignal.any([signal, late]))
  } catch (error) {
    if (late.aborted) throw toForwardingError(port, 'late', error)
    if (error instanceof AppError && error.code === 'sandbox/not-running') throw createStoppedError(error)
    throw error
  }
}

function createStoppedError(cause?: unknown): AppError {
  return new AppError('port/stopped', 'This sandbox is stopped.', { cause })
}

function toForwardingError(port: number, kind: ProxyErrorKind, cause?: unknown): AppError {
  const server = `The server on port ${port}`
  if (kind === 'late') return new AppError('port/timeout', `${server} did not respond in time.`, { cause })
  if (kind === 'broken')
    return new AppError('port/failed', `${server} closed the connection without a response.`, { cause })
  if (kind === 'protocol') return new AppError('port/failed', `${server} switched to another protocol.`, { cause })
  return new AppError('port/failed', `${server} responded with status ${kind}.`, { cause })
}
