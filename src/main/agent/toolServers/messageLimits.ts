/** Maximum size of a message or an HTTP response. */
export const messageBytes = 4 * 1024 * 1024
/** Limits of a connection per minute. It is closed if it exceeds them. */
export const minuteLimits = { bytes: 32 * 1024 * 1024, messages: 3_000 } as const

export type MessageMeter = {
  /** @returns false if a limit is exceeded */
  count(bytes: number, messages: number): boolean
}

export function createMessageMeter(now: () => number): MessageMeter {
  let since = now()
  let said = { bytes: 0, messages: 0 }
  return {
    count(bytes, messages) {
      if (now() - since >= 60_000) {
        since = now()
        said = { bytes: 0, messages: 0 }
      }
      said = { bytes: said.bytes + bytes, messages: said.messages + messages }
      return said.bytes <= minuteLimits.bytes && said.messages <= minuteLimits.messages
    },
  }
}
