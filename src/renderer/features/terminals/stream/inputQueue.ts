/**
 * Maximum length of a chunk in UTF-16 code units. A message contains at most 64 KiB of UTF-8, and a code unit takes at
 * most three bytes.
 */
const chunkUnits = Math.floor((64 * 1024) / 3)

/** Maximum input buffered while disconnected, in bytes. */
export const maxQueuedBytes = 64 * 1024

export type InputQueue = {
  /** Queues the entire text, or rejects it if more than `limitBytes` would be queued. */
  add(text: string, limitBytes: number): boolean
  /** Removes and returns all queued input in order, in chunks of at most one message each. */
  take(): string[]
  readonly waitingBytes: number
}

export function createInputQueue(): InputQueue {
  let waiting: string[] = []
  let waitingBytes = 0
  return {
    add(text, limitBytes) {
      const bytes = getUtf8Length(text)
      if (waitingBytes + bytes > limitBytes) return false
      waiting.push(text)
      waitingBytes += bytes
      return true
    },
    take() {
      const text = waiting.join('')
      waiting = []
      waitingBytes = 0
      return splitInput(text)
    },
    get waitingBytes() {
      return waitingBytes
    },
  }
}

/** Splits only between characters, so that each chunk is valid UTF-8. */
export function splitInput(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + chunkUnits, text.length)
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function getUtf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}
