type NumberedInput = { writer?: string | undefined; seq?: number | undefined }

export type InputDeduplicator = {
  /**
   * Whether this input is new. Returns false for input that this writer has already sent. Input without a number is
   * always new.
   */
  isNew(input: NumberedInput): boolean
}

/** Far more than the number of windows with an open terminal. */
const maxWriters = 256

/**
 * Tracks the last input number of each writer of one terminal, so that input resent after a connection loss is typed
 * only once.
 */
export function createInputDeduplicator(): InputDeduplicator {
  const lastOf = new Map<string, number>() // least recently active writer first
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
