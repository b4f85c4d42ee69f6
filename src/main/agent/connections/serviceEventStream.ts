import { WebSocket } from 'ws'
import type { Log } from '#platform/logging/log.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { eventsPath, ServiceEvent } from '#shared/contract/events.ts'
import { readEvent } from '#shared/contract/parseResponse.ts'
import { buildUrl, createConnector, createTlsOptions, type ServiceTarget } from './serviceTarget.ts'

type Options = {
  target: ServiceTarget
  log: Log
  onEvent: (event: ServiceEvent) => void
  /** Called when the connection failed or was lost, with the reason. The feed reconnects until it is closed. */
  onLost: (reason: string) => void
  /** Called when the service responds again on a connection that was not lost. */
  onResponsive: () => void
  /** Called when the service accepts connections but has sent nothing for 30 s. */
  onFrozen: () => void
  limits?: Partial<FeedLimits>
}

type FeedLimits = { handshakeMs: number; pingMs: number; frozenMs: number }

const defaultLimits: FeedLimits = { handshakeMs: 10_000, pingMs: 5_000, frozenMs: 30_000 }
const backOff = { firstMs: 50, maxMs: 3_000 } as const
const maxEventBytes = 1024 * 1024

const reasons = {
  silent: 'The service isn’t responding.',
  ended: 'The service closed the connection.',
  absent: 'The service isn’t running.',
} as const

/** Maintains one WebSocket connection to the service's events and reconnects with increasing delays. */
export function createServiceEventStream({
  target,
  log,
  onEvent,
  onLost,
  onResponsive,
  onFrozen,
  ...options
}: Options): {
  close(): void
} {
  const { handshakeMs, pingMs, frozenMs } = { ...defaultLimits, ...options.limits }
  let closed = false
  let pauseMs: number = backOff.firstMs
  let retry: NodeJS.Timeout | undefined
  let socket: WebSocket | undefined
  /** Counted in intervals instead of clock time, so that sleep does not count. */
  let silentMs = 0

  const wait = (ms: number): void => {
    const before = silentMs
    silentMs += ms
    if (before < frozenMs && silentMs >= frozenMs) onFrozen()
  }
  const hear = (): void => {
    silentMs = 0
  }

  const open = (): void => {
    let reason: string = reasons.ended
    const opened = new WebSocket(buildUrl(target).replace(/^http/, 'ws') + eventsPath, {
      headers: { authorization: `Bearer ${target.key}` },
      handshakeTimeout: handshakeMs,
      maxPayload: maxEventBytes,
      perMessageDeflate: false,
      createConnection: createConnector(target),
      ...createTlsOptions(target),
    })
    socket = opened
    const watch = startHeartbeat(opened, pingMs, {
      onSilence() {
        if (closed) return
        onLost(reasons.silent)
        wait(pingMs)
        if (silentMs < frozenMs) return
        reason = reasons.silent
        opened.terminate()
      },
      onAnswer() {
        const wasSilent = silentMs > 0
        hear()
        if (wasSilent && !closed) onResponsive()
      },
    })
    opened.on('error', (error) => {
      log.debug('connection to the service failed', { error })
      if (isTimeout(error)) wait(handshakeMs)
      else hear()
      reason = toReason(error)
    })
    opened.on('message', (data, isBinary) => {
      const event = isBinary ? undefined : parseEvent(String(data))
      if (closed || event === undefined) return
      hear()
      pauseMs = backOff.firstMs
      onEvent(event)
    })
    opened.on('close', () => {
      watch.stop()
      if (closed) return
      onLost(reason)
      retry = setTimeout(open, pauseMs)
      pauseMs = Math.min(pauseMs * 2, backOff.maxMs)
    })
  }

  const parseEvent = (text: string): ServiceEvent | undefined => {
    try {
      return readEvent(ServiceEvent, parseJson(text))
    } catch (error) {
      log.warn('unrecognized event from the service', { error })
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

type HeartbeatEvents = {
  /** Called when no pong has arrived since the last ping. */
  onSilence(): void
  onAnswer(): void
}

function startHeartbeat(
  socket: WebSocket,
  everyMs: number,
  { onSilence, onAnswer }: HeartbeatEvents,
): { stop(): void } {
  let answered = true
  socket.on('pong', () => {
    answered = true
    onAnswer()
  })
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!answered) onSilence()
    if (socket.readyState !== WebSocket.OPEN) return
    answered = false
    socket.ping()
  }, everyMs)
  return { stop: () => clearInterval(timer) }
}

function isTimeout(error: Error): boolean {
  return /handshake has timed out/i.test(error.message)
}

/** Formats a reason for the window. Codes and numbers are in the diagnostic log. */
function toReason(error: Error): string {
  if (isTimeout(error)) return reasons.silent
  if (/^connect (ECONNREFUSED|ENOENT)/.test(error.message)) return reasons.absent
  if (/^(read|write|connect) E[A-Z]+|socket hang up/.test(error.message)) return reasons.ended
  return /^Unexpected server response: 5\d\d$/.test(error.message) ? reasons.silent : `${error.message}.`
}
