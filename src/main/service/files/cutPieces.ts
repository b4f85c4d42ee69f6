/** What comes in pieces of any size goes on in pieces of one size, the last one less. What came before a failure too. */
export async function* cutPieces(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let heldBytes = 0
  let failure: { cause: unknown } | undefined
  const iterator = pieces[Symbol.asyncIterator]()
  for (;;) {
    const next = await iterator.next().catch((cause: unknown) => {
      failure = { cause }
      return { done: true, value: undefined } as const
    })
    if (next.done || next.value === undefined) break
    held.push(next.value)
    heldBytes += next.value.length
    if (heldBytes < bytes) continue
    const all = Buffer.concat(held)
    const whole = heldBytes - (heldBytes % bytes)
    for (let at = 0; at < whole; at += bytes) yield all.subarray(at, at + bytes)
    held = whole === heldBytes ? [] : [all.subarray(whole)]
    heldBytes -= whole
  }
  if (heldBytes > 0) yield Buffer.concat(held)
  if (failure) throw failure.cause
}
