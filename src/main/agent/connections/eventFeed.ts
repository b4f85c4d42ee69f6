import { WebSocket } from 'ws'
import { eventsPath, ServiceEvent } from '../../../shared/contract/events.ts'
import { parseJson } from '../../platform/boundedJson.ts'
import type { Log } from '../../platform/log.ts'
import { askedUrl, connector, type ServiceTarget, tlsOptions } from './serviceTarget.ts'

type Options = {
  target: ServiceTarget
  log: Log
  onEvent: (event: ServiceEvent) => void
  /** Not connected, or no longer, for the reason given. It is tried again until closed. */
  onLost: (reason: string) => void
}

const handshakeMs = 10_000
/** A service that answers no ping for this long hangs. */
const pingMs = 15_000
const backOff = { firstMs: 50, maxMs: 3_000 } as const
const maxEventBytes = 1024 * 1024

/** Holds one WebSocket to the service's events, and opens it again, ever slower, when it ends. */
export function eventFeed({ target, log, onEvent, onLost }: Options): { close(): void } {
  let closed = false
  let pauseMs: number = backOff.firstMs
  let retry: NodeJS.Timeout | undefined
  let socket: WebSocket | undefined

  const open = (): void => {
    let failure: string | undefined
    const opened = new WebSocket(askedUrl(target).replace(/^http/, 'ws') + eventsPath, {
      headers: { authorization: `Bearer ${target.key}` },
      handshakeTimeout: handshakeMs,
      maxPayload: maxEventBytes,
      perMessageDeflate: false,
      createConnection: connector(target),
      ...tlsOptions(target),
    })
    socket = opened
    const watch = heartbeat(opened)
    opened.on('error', (error) => {
      failure = error.message
    })
    opened.on('message', (data, isBinary) => {
      const event = isBinary ? undefined : parsed(String(data))
      if (closed || event === undefined) return
      pauseMs = backOff.firstMs
      onEvent(event)
    })
    opened.on('close', (code) => {
      watch.stop()
      if (closed) return
      onLost(failure === undefined ? `The service ended the connection (${code}).` : sentence(failure))
      retry = setTimeout(open, pauseMs)
      pauseMs = Math.min(pauseMs * 2, backOff.maxMs)
    })
  }

  const parsed = (text: string): ServiceEvent | undefined => {
    try {
      return ServiceEvent.parse(parseJson(text))
    } catch (failure) {
      log.warn('an event of the service was not understood', { failure })
      return undefined
    }
  }

  open()
  return {
    close() {
      closed = true
      clearTimeout(retry)
      socket?.terminate()
    },
  }
}

function heartbeat(socket: WebSocket): { stop(): void } {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, pingMs)
  return { stop: () => clearInterval(timer) }
}

function sentence(failure: string): string {
  return /^connect (ECONNREFUSED|ENOENT)/.test(failure) ? 'Nothing answers at its address.' : `${failure}.`
}
