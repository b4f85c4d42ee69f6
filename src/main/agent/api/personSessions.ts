import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Sessions of the person at this machine. They live as long as this process, in its memory only. */
export type PersonSessions = {
  /** A token that opens one session, once. */
  issueToken(): string
  /** @returns the secret of a new session, or undefined when the token opens none. */
  exchange(token: string): string | undefined
  isOpen(secret: string): boolean
}

/** Beyond this the oldest is forgotten: a person has a handful. */
const maxHeld = 256

export function personSessions(): PersonSessions {
  const tokens: Buffer[] = []
  const sessions: Buffer[] = []
  return {
    issueToken: () => issued(tokens),
    exchange(token) {
      const index = indexOf(tokens, token)
      if (index < 0) return undefined
      tokens.splice(index, 1)
      return issued(sessions)
    },
    isOpen: (secret) => indexOf(sessions, secret) >= 0,
  }
}

function issued(digests: Buffer[]): string {
  const secret = randomBytes(32).toString('base64url')
  digests.push(digest(secret))
  if (digests.length > maxHeld) digests.shift()
  return secret
}

/** Compares digests, each in constant time, so that time tells nothing of a secret. */
function indexOf(digests: readonly Buffer[], secret: string): number {
  const wanted = digest(secret)
  return digests.findIndex((it) => timingSafeEqual(it, wanted))
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
