import { createHash, timingSafeEqual } from 'node:crypto'
import type { PortRecord, PortRepository } from './portRepository.ts'

export type PortTokens = {
  /** The token is in the answer and nowhere else: only its hash is kept. */
  create(port: PortRecord): { token: string; expiresAtMs: number }
  /** Whether the token is good for this very port, now. */
  fits(token: string, port: PortRecord): boolean
}

/** Half a day: a page that is worked on stays open. */
export const portTokenSeconds = 12 * 3600
const tokenPattern = /^spt_[A-Za-z0-9_-]{43}$/

export function portTokens(options: {
  records: PortRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): PortTokens {
  const { records, now, randomBytes } = options
  return {
    create({ sandboxId, port }) {
      const token = `spt_${randomBytes(32).toString('base64url')}`
      const expiresAtMs = now() + portTokenSeconds * 1000
      records.removeExpiredTokens(now())
      records.addToken({ hash: hashOf(token), sandboxId, port, expiresAtMs })
      return { token, expiresAtMs }
    },
    fits(token, { sandboxId, port }) {
      if (!tokenPattern.test(token)) return false
      const hash = hashOf(token)
      const found = records.findToken(hash, now())
      if (!found || !timingSafeEqual(found.hash, hash)) return false
      return found.sandboxId === sandboxId && found.port === port
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
