import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '#platform/boundedJson.ts'
import { readSecretFile, writeSecretFile } from '#platform/secretFile.ts'

/** Of the two secrets of a session neither is enough: the browser keeps one, the window's own origin the other. */
export type OpenedSession = { secret: string; windowKey: string }

/** What shows that a request is of the window: its key, or that it signed something with it. */
export type WindowProof = { key: string } | { signed: string; signature: Buffer }

/**
 * Sessions of the person at this machine. With a file they outlive this process, for a week: a window that is open goes
 * on when Steward is started again. The file has hashes alone, which open nothing. Tokens live in memory only.
 */
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
const digestBytes = 32
const keptMs = 7 * 24 * 60 * 60 * 1000

export function personSessions({ file, now = Date.now }: { file?: string; now?: () => number } = {}): PersonSessions {
  const tokens: Token[] = []
  const sessions = file === undefined ? [] : keptSessions(file)
  const isYoung = ({ openedAtMs }: Session): boolean => now() - openedAtMs < keptMs
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
      hold(sessions, {
        digest: digestOf(opened.secret),
        windowDigest: digestOf(opened.windowKey),
        openedAtMs: now(),
      })
      if (file !== undefined) keepSessions(file, sessions.filter(isYoung))
      return opened
    },
    isOpen(secret, proof) {
      const session = found(sessions, secret)
      return session !== undefined && isYoung(session) && isProven(session, proof)
    },
  }
}

type Token = { digest: Buffer; onUsed: (() => void) | undefined }
type Session = { digest: Buffer; windowDigest: Buffer; openedAtMs: number }

const Digest = z.base64().transform((text) => Buffer.from(text, 'base64'))
const Kept = z.array(z.object({ digest: Digest, windowDigest: Digest, openedAtMs: z.number() }))

function keptSessions(file: string): Session[] {
  try {
    return Kept.parse(parseJson(readSecretFile(file) ?? '[]')).filter(
      ({ digest, windowDigest }) => digest.length === digestBytes && windowDigest.length === digestBytes,
    )
  } catch {
    return [] // nobody is signed in then
  }
}

function keepSessions(file: string, sessions: readonly Session[]): void {
  const kept = sessions.map(({ digest, windowDigest, openedAtMs }) => ({
    digest: digest.toString('base64'),
    windowDigest: windowDigest.toString('base64'),
    openedAtMs,
  }))
  writeSecretFile(file, JSON.stringify(kept))
}

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
