import { AppError } from '#shared/appError.ts'
import { type EventStreamResponse, type StreamEvent, writeChunks } from './answers.ts'
import type { Exchange } from './exchange.ts'

/** Proxies close connections that are idle for longer, most after 30 or 60 s. */
export const defaultHeartbeatMs = 15_000

/** Heartbeats without progress after which a client counts as disconnected. */
const missedHeartbeats = 8

type Options = {
  /** Idle time before a comment is sent. */
  heartbeatMs: number
  toFailure: (error: unknown) => AppError
}

/** @throws an error before the first event, while an error response is still possible */
export async function sendEvents(exchange: Exchange, answer: EventStreamResponse, options: Options): Promise<void> {
  const { request, response, disconnected, signal } = exchange
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(200, { ...exchange.headers, ...eventHeaders })
  }
  if (request.method === 'HEAD') {
    begin()
    response.end()
    return
  }
  const end = (error: AppError): void => {
    if (response.writableEnded || response.destroyed) return
    begin()
    response.end(formatEvent(answer.toEvent?.(error) ?? { event: 'error', data: error.toBody() }))
  }
  const heartbeat = setInterval(() => {
    // Sends the response head immediately, so that a client does not time out before a slow first event.
    begin()
    if (!response.writableNeedDrain && !response.writableEnded) response.write(':\n\n')
  }, options.heartbeatMs)
  const stop = (): void => {
    if (exchange.abortError) end(exchange.abortError)
    else if (!disconnected.aborted) end(new AppError('service/unavailable', 'Steward is stopping.'))
  }
  signal.addEventListener('abort', stop)
  response.setTimeout(options.heartbeatMs * missedHeartbeats, () => response.destroy())
  try {
    await writeChunks(response, answer.events, (event) => {
      begin()
      heartbeat.refresh()
      return response.write(formatEvent(event))
    })
    begin()
    response.end()
  } catch (error) {
    if (disconnected.aborted || response.writableEnded) return
    if (!response.headersSent) throw error
    end(options.toFailure(error))
  } finally {
    clearInterval(heartbeat)
    signal.removeEventListener('abort', stop)
  }
}

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // disables buffering in nginx
} as const

/** A line break in a name or an id would allow the author of the event to inject fields. */
function formatEvent({ event, id, data }: StreamEvent): string {
  for (const field of [event, id]) {
    if (field !== undefined && /[\r\n\0]/.test(field))
      throw new Error('The name or id of an event has more than one line.')
  }
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`
}
