import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { readSecretFile, writeSecretFile } from '#platform/secrets/secretFile.ts'

/** Secrets of a session. The browser stores the first, the window's origin the second; requests require both. */
export type OpenedSession = { secret: string; windowKey: string }

/** Proof that a request comes from the window: the window key, or a signature made with it. */
export type WindowProof = { key: string } | { signed: string; signature: Buffer }

/**
 * Sessions of the user on this computer. Sessions in a file survive a restart for up to a week, so that an open window
 * continues to work. The file contains only hashes, which cannot open a session. Tokens exist in memory only.
 */
export type UserSessions = {
  /** Issues a token that opens one session and is valid once. @param onUsed called when the token is used */
  issueToken(onUsed?: () => void): string
  /** @returns a new session, or undefined if the token is invalid */
  exchange(token: string): OpenedSession | undefined
  isOpen(secret: string, proof: WindowProof): boolean
}

/** Maximum number of sessions. The oldest is removed first; a user has only a few. */
const maxSessions = 256
const digestBytes = 32
const maxAgeMs = 7 * 24 * 60 * 60 * 1000

export function createUserSessions({ file, now = Date.now }: { file?: string; now?: () => number } = {}): UserSessions {
  const tokens: Token[] = []
  const sessions = file === undefined ? [] : readSessions(file)
  const isYoung = ({ openedAtMs }: Session): boolean => now() - openedAtMs < maxAgeMs
  return {
    issueToken(onUsed) {
      const token = createSecret()
      addBounded(tokens, { digest: hashSecret(token), onUsed })
      return token
    },
    exchange(token) {
      const used = findBySecret(tokens, token)
      if (!used) return undefined
      tokens.splice(tokens.indexOf(used), 1)
      used.onUsed?.()
      const opened = { secret: createSecret(), windowKey: createSecret() }
      addBounded(sessions, {
        digest: hashSecret(opened.secret),
        windowDigest: hashSecret(opened.windowKey),
        openedAtMs: now(),
      })
      if (file !== undefined) saveSessions(file, sessions.filter(isYoung))
      return opened
    },
    isOpen(secret, proof) {
      const session = findBySecret(sessions, secret)
      return session !== undefined && isYoung(session) && isValidProof(session, proof)
    },
  }
}

type Token = { digest: Buffer; onUsed: (() => void) | undefined }
type Session = { digest: Buffer; windowDigest: Buffer; openedAtMs: number }

const Digest = z.base64().transform((text) => Buffer.from(text, 'base64'))
const StoredSessions = z.array(z.object({ digest: Digest, windowDigest: Digest, openedAtMs: z.number() }))

function readSessions(file: string): Session[] {
  try {
    return StoredSessions.parse(parseJson(readSecretFile(file) ?? '[]')).filter(
      ({ digest, windowDigest }) => digest.length === digestBytes && windowDigest.length === digestBytes,
    )
  } catch {
    return [] // no open sessions
  }
}

function saveSessions(file: string, sessions: readonly Session[]): void {
  const stored = sessions.map(({ digest, windowDigest, openedAtMs }) => ({
    digest: digest.toString('base64'),
    windowDigest: windowDigest.toString('base64'),
    openedAtMs,
  }))
  writeSecretFile(file, JSON.stringify(stored))
}

function isValidProof({ windowDigest }: Session, proof: WindowProof): boolean {
  if ('key' in proof) return timingSafeEqual(hashSecret(proof.key), windowDigest)
  const expected = createHmac('sha256', windowDigest).update(proof.signed).digest()
  return proof.signature.length === expected.length && timingSafeEqual(proof.signature, expected)
}

function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

function addBounded<T>(list: T[], item: T): void {
  list.push(item)
  if (list.length > maxSessions) list.shift()
}

/** Finds an entry by secret. Digests are compared in constant time to prevent timing attacks. */
function findBySecret<T extends { digest: Buffer }>(sessions: readonly T[], secret: string): T | undefined {
  const hash = hashSecret(secret)
  return sessions.find(({ digest }) => timingSafeEqual(digest, hash))
}

function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
