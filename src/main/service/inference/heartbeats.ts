/** Proxies cut connections that are silent for longer, most after 30 or 60 s; models think for minutes. */
const defaultMs = 15_000
/** A comment, which every client drops. */
const comment = ': thinking\n\n'

/** The frames, and a comment wherever none comes for a while. */
export async function* withHeartbeats(frames: AsyncGenerator<string>, everyMs = defaultMs): AsyncGenerator<string> {
  try {
    let next = frames.next()
    while (true) {
      const frame = await inTime(next, everyMs)
      if (frame === undefined) {
        yield comment
        continue
      }
      if (frame.done) return
      yield frame.value
      next = frames.next()
    }
  } finally {
    await frames.return(undefined)
  }
}

/** @returns undefined after the timeout */
async function inTime<T>(pending: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([pending, late])
  } finally {
    clearTimeout(timer)
  }
}
