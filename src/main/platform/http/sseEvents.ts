import { isAscii } from 'node:buffer'
import { createParser } from 'eventsource-parser'

export type SseEvent = { event: string | undefined; data: string }

/** Maximum size of an event. A complete response with images stays far below. */
const maxEventChars = 16 * 1024 * 1024

/**
 * Creates a parser of event streams. Chunks may have any size and split characters. The last event needs no trailing
 * blank line.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export function createSseParser() {
  const decoder = new TextDecoder()
  let ready: SseEvent[] = []
  let overflow = false
  let between = true
  /** Whether the decoder has no pending bytes, and is past the start, where a byte order mark may occur. */
  let isPlain = false
  const parser = createParser({
    maxBufferSize: maxEventChars,
    onEvent: ({ event, data }) => void ready.push({ event, data }),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') overflow = true
    },
  })

  function take(text: string): SseEvent[] {
    if (text !== '') {
      parser.feed(text)
      between = text.endsWith('\n\n')
    }
    if (overflow) throw new Error(`An event of the stream is longer than ${maxEventChars} characters.`)
    const events = ready
    ready = []
    return events
  }

  /**
   * Most chunks have no multibyte character. They need the stateful decoder only if the previous chunk ended within a
   * character.
   */
  const decodeBytes = (bytes: Uint8Array): string => {
    const plain = isAscii(bytes)
    const text = plain && isPlain ? toLatin1(bytes) : decoder.decode(bytes, { stream: true })
    isPlain = plain
    return text
  }

  return {
    /** @throws Error if an event is too long */
    feed: (bytes: Uint8Array): SseEvent[] => take(decodeBytes(bytes)),
    end: (): SseEvent[] => take(`${decoder.decode()}\n\n`),
    /**
     * `feed` in two steps, for callers that extract some events from the text. `isBetween` is true between two events.
     */
    textOf: decodeBytes,
    take,
    isBetween: () => between,
  }
}

function toLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
}

export function formatSseFrame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return event === undefined ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`
}
