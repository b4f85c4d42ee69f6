export type ByteLimits = {
  maxBytes: number
  /** Aborts the read, also while waiting for the next chunk. Use `AbortSignal.timeout(…)` for a deadline. */
  signal?: AbortSignal | undefined
  /** Creates the error for a longer stream. */
  tooLarge?: () => Error
}

/**
 * Reads an untrusted stream to its end, and destroys it on error.
 * @throws the error of `tooLarge`, the signal's reason, or the stream's error
 */
export async function readBytes(stream: AsyncIterable<Uint8Array>, limits: ByteLimits): Promise<Buffer> {
  const { maxBytes, tooLarge = () => new Error(`The content has more than ${maxBytes} bytes.`) } = limits
  const { bytes, isTruncated } = await readFirstBytes(stream, limits)
  if (isTruncated) throw tooLarge()
  return bytes
}

/**
 * Reads the first `maxBytes` of a stream, then destroys it.
 * @throws the signal's reason or the stream's error
 */
export async function readFirstBytes(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: Omit<ByteLimits, 'tooLarge'>,
): Promise<{ bytes: Buffer; isTruncated: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of signal ? createAbortable(stream, signal) : stream) {
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

async function* createAbortable<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = stream[Symbol.asyncIterator]()
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  aborted.catch(() => {}) // may reject before it is awaited
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
    // Not awaited, because a generator that waits for its source returns only after the next chunk.
    if (!isEnded) void iterator.return?.().catch(() => {})
  }
}
