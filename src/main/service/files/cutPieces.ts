/** Splits chunks of any size into chunks of one size, the last one shorter. Data before an error is passed on. */
export async function* cutPieces(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let streamError: { cause: unknown } | undefined
  const iterator = pieces[Symbol.asyncIterator]()
  for (;;) {
    const next = await iterator.next().catch((cause: unknown) => {
      streamError = { cause }
      return { done: true, value: undefined } as const
    })
    if (next.done || next.value === undefined) break
    pending.push(next.value)
    pendingBytes += next.value.length
    if (pendingBytes < bytes) continue
    const all = Buffer.concat(pending)
    const whole = pendingBytes - (pendingBytes % bytes)
    for (let offset = 0; offset < whole; offset += bytes) yield all.subarray(offset, offset + bytes)
    pending = whole === pendingBytes ? [] : [all.subarray(whole)]
    pendingBytes -= whole
  }
  if (pendingBytes > 0) yield Buffer.concat(pending)
  if (streamError) throw streamError.cause
}
