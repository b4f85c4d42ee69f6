import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { AppError } from '../../../shared/appError.ts'
import { parseFields } from '../../../shared/contract/parseRequest.ts'
import { matchPath } from '../../../shared/contract/pathPattern.ts'
import { streamClose } from '../../../shared/contract/terminalStream.ts'
import { terminalLimits } from '../../../shared/contract/terminals.ts'
import type { Log } from '../../platform/log.ts'
import { credentialOf } from '../../platform/requestCredential.ts'
import type { Caller, SocketEndpoint } from '../endpoint.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import { protocolToken } from './credentials.ts'
import { refuseUpgrade, toAppError } from './errorAnswers.ts'
import type { RequestGuard } from './requestGuard.ts'

export type WebSockets = {
  /** Some credential may have ended: closes every peer whose own has. */
  checkAccess(): void
  /** Tells every peer that the service goes away, and cuts off who has not left after a moment. */
  close(): Promise<void>
}

type Options = {
  server: Server
  endpoints: readonly SocketEndpoint[]
  guard: RequestGuard
  authentication: Authentication
  addressOf: CallerAddress
  /** Of a host that is not ours: somebody else takes its upgrades. */
  isElsewhere: (host: string | undefined) => boolean
  /** Knows the holder of a token that a page sent as a subprotocol. */
  linkHolder: (token: string) => Caller | undefined
  /** Whether a credential still opens what it opened. */
  isHeld: (credential: string) => boolean
  log: Log
}

/** How often peers are asked whether they are there, and looked at whether they may still be. */
const checkEveryMs = 30_000
const leaveWithinMs = 1000
/** An input of the largest size, with every byte escaped by JSON. */
const maxPayloadBytes = 6 * terminalLimits.maxInputBytes + 1024

/** Upgrades requests to WebSockets once their host, origin and credential were checked, and keeps watch on the peers. */
export function webSockets(options: Options): WebSockets {
  const { server, log } = options
  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    // A browser insists on one of those it offered.
    handleProtocols: (offered) => (offered.has('steward') ? 'steward' : ([...offered][0] ?? false)),
  })
  const peers = peerWatch(options)

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    if (options.isElsewhere(request.headers.host)) return
    stream.on('error', () => stream.destroy()) // the peer has gone; `close` tells whoever serves it
    try {
      const { endpoint, input, caller, credential } = admit(request, options)
      acceptor.handleUpgrade(request, stream, head, (socket) => {
        peers.add(socket, credential)
        socket.on('error', (failure) => log.debug('a WebSocket failed', { failure }))
        endpoint.serve(socket, input, caller)
      })
    } catch (failure) {
      refuseUpgrade(stream, toAppError(failure, log, { method: 'GET', path: pathOf(request) }))
    }
  }
  server.on('upgrade', upgrade)

  return {
    checkAccess: peers.checkAccess,
    async close() {
      server.off('upgrade', upgrade)
      await peers.close()
      acceptor.close()
    },
  }
}

function admit(request: IncomingMessage, { endpoints, guard, authentication, linkHolder, addressOf }: Options) {
  const { headers } = request
  guard.check(headers)
  const path = pathOf(request)
  for (const endpoint of endpoints) {
    const params = matchPath(endpoint.path, path)
    if (!params) continue
    const token = protocolToken(headers)
    const holder = token === undefined ? undefined : linkHolder(token)
    const credential = credentialOf(headers) ?? token
    const caller = holder ?? authentication.identify(credential, addressOf(request))
    authorize(caller, { auth: 'key', linkMayUse: endpoint.linkMayUse, id: params.id })
    const query = Object.fromEntries(new URLSearchParams(request.url?.split('?')[1] ?? ''))
    const input = { params: parseFields(endpoint.params, params), query: parseFields(endpoint.query, query) }
    // A link opens terminals for an hour; those that are open stay.
    return { endpoint, input, caller, credential: caller.onlySandbox === undefined ? credential : undefined }
  }
  throw new AppError('request/not-found', `There is no WebSocket at ${path}.`)
}

function peerWatch({ isHeld }: Pick<Options, 'isHeld'>) {
  const answered = new Map<WebSocket, boolean>()
  const credentials = new Map<WebSocket, string>()

  const checkAccess = (): void => {
    for (const [peer, credential] of credentials) {
      if (isHeld(credential)) continue
      credentials.delete(peer)
      peer.removeAllListeners('message') // what it sends until it has left counts no longer
      peer.close(streamClose.accessEnded, 'Access has ended')
      const cutOff = setTimeout(() => peer.terminate(), leaveWithinMs)
      peer.once('close', () => clearTimeout(cutOff))
    }
  }
  const timer = setInterval(() => {
    checkAccess()
    for (const [peer, alive] of answered) {
      if (!alive) peer.terminate()
      else {
        answered.set(peer, false)
        peer.ping()
      }
    }
  }, checkEveryMs)
  timer.unref()
  let emptied: (() => void) | undefined

  return {
    checkAccess,
    add(peer: WebSocket, credential: string | undefined): void {
      answered.set(peer, true)
      if (credential !== undefined) credentials.set(peer, credential)
      const alive = () => answered.set(peer, true)
      peer.on('pong', alive)
      peer.on('message', alive) // its pong may still wait behind what it reads slowly
      peer.once('close', () => {
        answered.delete(peer)
        credentials.delete(peer)
        if (answered.size === 0) emptied?.()
      })
    },
    async close(): Promise<void> {
      clearInterval(timer)
      if (answered.size === 0) return
      for (const peer of answered.keys()) peer.close(1001, 'The service is stopping')
      const cutOff = setTimeout(() => {
        for (const peer of answered.keys()) peer.terminate()
      }, leaveWithinMs)
      await new Promise<void>((resolve) => {
        emptied = resolve
      })
      clearTimeout(cutOff)
    },
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url?.split('?')[0] ?? '').slice(0, 200)
}
