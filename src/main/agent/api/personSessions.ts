import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Sessions of the person at this machine. They live as long as this process, in its memory only. */
export type PersonSessions = {
  /**
   * A token that opens one session, once.
   * @param onUsed it has
   */
  issueToken(onUsed?: () => void): string
  /** @returns the secret of a new session, or undefined when the token opens none. */
  exchange(token: string): string | undefined
  isOpen(secret: string): boolean
}

/** Beyond this the oldest is forgotten: a person has a handful. */
const maxHeld = 256

export function personSessions(): PersonSessions {
  const tokens: Held[] = []
  const sessions: Held[] = []
  return {
    issueToken: (onUsed) => issued(tokens, onUsed),
    exchange(token) {
      const index = indexOf(tokens, token)
      if (index < 0) return undefined
      const [used] = tokens.splice(index, 1)
      used?.onUsed?.()
      return issued(sessions)
    },
    isOpen: (secret) => indexOf(sessions, secret) >= 0,
  }
}

type Held = { digest: Buffer; onUsed: (() => void) | undefined }

function issued(held: Held[], onUsed?: () => void): string {
  const secret = randomBytes(32).toString('base64url')
  held.push({ digest: digestOf(secret), onUsed })
  if (held.length > maxHeld) held.shift()
  return secret
}

/** Compares digests, each in constant time, so that time tells nothing of a secret. */
function indexOf(held: readonly Held[], secret: string): number {
  const wanted = digestOf(secret)
  return held.findIndex(({ digest }) => timingSafeEqual(digest, wanted))
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
