import { createParser } from 'eventsource-parser'

export type SseEvent = { event: string | undefined; data: string }

/** The longest event that a provider may send: an answer in one piece, with images, stays far below. */
const maxEventChars = 16 * 1024 * 1024

/**
 * Takes the bytes of an event stream in pieces of any size. Bytes of one character may be apart, and the last event needs
 * no blank line behind it.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export function sseParser() {
  const decoder = new TextDecoder()
  let ready: SseEvent[] = []
  let overflow = false
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ event, data }) => void ready.push({ event, data }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') overflow = true
    },
  })

  function fed(text: string): SseEvent[] {
    if (text !== '') parser.feed(text)
    if (overflow) throw new Error(`An event of the stream is longer than ${maxEventChars} characters.`)
    const events = ready
    ready = []
    return events
  }

  return {
    /** @throws Error when an event is too long */
    feed: (bytes: Uint8Array): SseEvent[] => fed(decoder.decode(bytes, { stream: true })),
    end: (): SseEvent[] => fed(`${decoder.decode()}\n\n`),
  }
}

/** An event for the wire. */
export function sseFrame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return event === undefined ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`
}
