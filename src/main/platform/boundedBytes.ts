export type ByteLimits = {
  maxBytes: number
  /** Ends the reading, also while the next chunk is awaited. A deadline is `AbortSignal.timeout(…)`. */
  signal?: AbortSignal | undefined
  /** Creates the error of a longer stream. */
  tooLarge?: () => Error
}

/**
 * Reads a stream of another party whole. A stream that is left early is ended.
 * @throws Error of `tooLarge`, the reason of the signal, and errors of the stream
 */
export async function readBytes(stream: AsyncIterable<Uint8Array>, limits: ByteLimits): Promise<Buffer> {
  const { maxBytes, tooLarge = () => new Error(`It has more than ${maxBytes} bytes.`) } = limits
  const { bytes, isTruncated } = await readFirstBytes(stream, limits)
  if (isTruncated) throw tooLarge()
  return bytes
}

/**
 * Reads a stream up to `maxBytes`, and ends it there.
 * @throws the reason of the signal, and errors of the stream
 */
export async function readFirstBytes(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: Omit<ByteLimits, 'tooLarge'>,
): Promise<{ bytes: Buffer; isTruncated: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of signal ? abortable(stream, signal) : stream) {
    if (length + chunk.length > maxBytes) {
      chunks.push(chunk.subarray(0, maxBytes - length))
      return { bytes: Buffer.concat(chunks), isTruncated: true }
    }
    length += chunk.length
    chunks.push(chunk)
  }
  const [only] = chunks
  return { bytes: chunks.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(chunks), isTruncated: false }
}

async function* abortable<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = stream[Symbol.asyncIterator]()
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  aborted.catch(() => {}) // nothing may be awaiting it when it fires
  let isEnded = false
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted])
      if (next.done) {
        isEnded = true
        return
      }
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited: a generator that waits for its source ends only once that moves.
    if (!isEnded) void iterator.return?.().catch(() => {})
  }
}
