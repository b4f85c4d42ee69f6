type NumberedInput = { writer?: string | undefined; seq?: number | undefined }

export type TypedOnce = {
  /** False for what this writer has typed before. Input without a number is always new. */
  isNew(input: NumberedInput): boolean
}

/** Enough for every window that has a terminal open, many times over. */
const maxWriters = 256

/** Remembers how far each writer of one terminal has come, so that what is sent again after a loss is typed once. */
export function createTypedOnce(): TypedOnce {
  const lastOf = new Map<string, number>() // the writer longest silent first
  return {
    isNew({ writer, seq }) {
      if (writer === undefined || seq === undefined) return true
      const last = lastOf.get(writer) ?? 0
      lastOf.delete(writer)
      lastOf.set(writer, Math.max(last, seq))
      const [oldest] = lastOf.keys()
      if (lastOf.size > maxWriters && oldest !== undefined) lastOf.delete(oldest)
      return seq > last
    },
  }
}
