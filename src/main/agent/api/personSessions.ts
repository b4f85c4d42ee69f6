import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Of the two secrets of a session neither is enough: the browser keeps one, the window's own origin the other. */
export type OpenedSession = { secret: string; windowKey: string }

/** What shows that a request is of the window: its key, or that it signed something with it. */
export type WindowProof = { key: string } | { signed: string; signature: Buffer }

/** Sessions of the person at this machine. They live as long as this process, in its memory only. */
export type PersonSessions = {
  /**
   * A token that opens one session, once.
   * @param onUsed it has
   */
  issueToken(onUsed?: () => void): string
  /** @returns a new session, or undefined when the token opens none. */
  exchange(token: string): OpenedSession | undefined
  isOpen(secret: string, proof: WindowProof): boolean
}

/** Beyond this the oldest is forgotten: a person has a handful. */
const maxHeld = 256

export function personSessions(): PersonSessions {
  const tokens: Token[] = []
  const sessions: Session[] = []
  return {
    issueToken(onUsed) {
      const token = newSecret()
      hold(tokens, { digest: digestOf(token), onUsed })
      return token
    },
    exchange(token) {
      const used = found(tokens, token)
      if (!used) return undefined
      tokens.splice(tokens.indexOf(used), 1)
      used.onUsed?.()
      const opened = { secret: newSecret(), windowKey: newSecret() }
      hold(sessions, { digest: digestOf(opened.secret), windowDigest: digestOf(opened.windowKey) })
      return opened
    },
    isOpen(secret, proof) {
      const session = found(sessions, secret)
      return session !== undefined && isProven(session, proof)
    },
  }
}

type Token = { digest: Buffer; onUsed: (() => void) | undefined }
type Session = { digest: Buffer; windowDigest: Buffer }

function isProven({ windowDigest }: Session, proof: WindowProof): boolean {
  if ('key' in proof) return timingSafeEqual(digestOf(proof.key), windowDigest)
  const expected = createHmac('sha256', windowDigest).update(proof.signed).digest()
  return proof.signature.length === expected.length && timingSafeEqual(proof.signature, expected)
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

function hold<T>(held: T[], one: T): void {
  held.push(one)
  if (held.length > maxHeld) held.shift()
}

/** Compares digests, each in constant time, so that time tells nothing of a secret. */
function found<T extends { digest: Buffer }>(held: readonly T[], secret: string): T | undefined {
  const wanted = digestOf(secret)
  return held.find(({ digest }) => timingSafeEqual(digest, wanted))
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
