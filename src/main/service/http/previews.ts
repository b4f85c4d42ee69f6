import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HeaderList } from '#platform/http/endToEndHeaders.ts'
import type { Exchange, Upgrade } from '#platform/http/exchange.ts'
import { dropRest } from '#platform/http/failures.ts'
import { type Forwarding, type ForwardingFailure, forwardRequest } from '#platform/http/forwardRequest.ts'
import { forwardUpgrade } from '#platform/http/forwardUpgrade.ts'
import { AppError } from '#shared/appError.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { HostCalls } from '../host/hostCalls.ts'
import type { ExposedPorts } from '../ports/exposedPorts.ts'
import type { FrameSessions } from '../ports/frameSessions.ts'
import type { PortNames } from '../ports/portNames.ts'
import type { PortRecord } from '../ports/portRepository.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { openPreviews } from './openPreviews.ts'
import type { PreviewAccess } from './previewAccess.ts'
import type { PreviewCookies } from './previewCookies.ts'
import { type Admitted, insideHeaders, outsideHeaders } from './previewHeaders.ts'
import { answerOpenPage, answerPreviewFailure, openPath } from './previewPages.ts'

export type PreviewOptions = {
  names: Pick<PortNames, 'labelOf'>
  ports: Pick<ExposedPorts, 'named'>
  sandbox: (id: PortRecord['sandboxId']) => SandboxRecord | undefined
  access: PreviewAccess
  principals: Pick<ServicePrincipals, 'lease'>
  cookies: Pick<PreviewCookies, 'format' | 'formatFrame'>
  frames: Pick<FrameSessions, 'open'>
  connect: HostCalls['connect']
  scheme: 'http' | 'https'
  behindProxy: boolean
  toFailure(failure: unknown, request: IncomingMessage): AppError
}

export type Previews = {
  answer(exchange: Exchange): Promise<void>
  /** @throws AppError, while it can still be answered */
  upgrade(upgrade: Upgrade): Promise<void>
  /** Cuts off the previews of ports, names and sandboxes that have changed. */
  checkPorts(): void
  /** Cuts off what is under way. */
  close(): void
}

const connectMs = 30_000
/** From the end of the request to the first line of the answer. */
const answerMs = 300_000
/** Without a byte either way. */
const idleMs = 3_600_000

/** Streams requests to the addresses of ports to the ports inside their sandboxes. */
export function previews(options: PreviewOptions): Previews {
  const open = new Set<Duplex>()
  const underWay = openPreviews(options)
  const forwardingOf = (request: IncomingMessage, { port, headers, frameOrigin }: Admitted): Forwarding => ({
    async reach(left) {
      const inside = await reach(port, left, options)
      open.add(inside)
      inside.once('close', () => open.delete(inside))
      if (left.aborted) inside.destroy()
      return (framing: HeaderList) =>
        httpRequest({
          createConnection: () => inside,
          method: request.method ?? 'GET',
          path: request.url ?? '/',
          headers: { ...headers, ...framing },
        })
    },
    answerHead: (answer) => ({ reason: answer.statusMessage, headers: outsideHeaders(answer, frameOrigin) }),
    answerMs,
    idleMs,
    failure: (what, cause) => failureOf(port.port, what, cause),
  })

  return {
    async answer(exchange) {
      const { request, response } = exchange
      let forget = () => {}
      try {
        if (request.url?.split('?')[0] === openPath) {
          answerOpenPage(request, response, (token) => formatCookie(token, request, options))
          return
        }
        const admitted = admit(request, options)
        const cut = (error?: AppError) => (error ? exchange.abort(error) : response.destroy())
        forget = underWay.add({ ...admitted, request, work: 'preview-exchange', cut })
        await forwardRequest(exchange, forwardingOf(request, admitted))
      } catch (failure) {
        if (response.destroyed || response.headersSent) throw failure
        dropRest(request)
        answerPreviewFailure(request, response, options.toFailure(exchange.abortError ?? failure, request))
      } finally {
        forget()
      }
    },
    async upgrade(upgrade) {
      const { request, stream } = upgrade
      const admitted = admit(request, options)
      const forget = underWay.add({ ...admitted, request, work: 'preview-socket', cut: () => stream.destroy() })
      stream.once('close', forget)
      await forwardUpgrade(upgrade, forwardingOf(request, admitted))
    },
    checkPorts: underWay.checkPorts,
    close() {
      for (const inside of open) inside.destroy()
    },
  }
}

function admit(request: IncomingMessage, options: PreviewOptions): Admitted {
  const port = options.ports.named(options.names.labelOf(request.headers.host) ?? '')
  if (!port) throw new AppError('port/not-found', 'No port is exposed at this address.')
  const { spent, frameOrigin, holder } = options.access.check(request, port)
  if (options.sandbox(port.sandboxId)?.status !== 'running') throw stopped()
  return { port, headers: insideHeaders(request, { ...options, spent }), frameOrigin, holder }
}

function formatCookie(token: string, request: IncomingMessage, options: PreviewOptions): string {
  const port = options.ports.named(options.names.labelOf(request.headers.host) ?? '')
  const session = port && options.frames.open(token, port)
  return session === undefined ? options.cookies.format(token) : options.cookies.formatFrame(session)
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
    if (late.aborted) throw failureOf(port, 'late', failure)
    if (failure instanceof AppError && failure.code === 'sandbox/not-running') throw stopped(failure)
    throw failure
  }
}

function stopped(cause?: unknown): AppError {
  return new AppError('port/stopped', 'This sandbox is stopped.', { cause })
}

function failureOf(port: number, what: ForwardingFailure, cause?: unknown): AppError {
  const server = `The server on port ${port}`
  if (what === 'late') return new AppError('port/late', `${server} did not answer in time.`, { cause })
  if (what === 'broken')
    return new AppError('port/failed', `${server} closed the connection before it answered.`, { cause })
  if (what === 'protocol') return new AppError('port/failed', `${server} changed to another protocol.`, { cause })
  return new AppError('port/failed', `${server} answered with status ${what}.`, { cause })
}
