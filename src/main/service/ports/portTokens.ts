import { hashOfSecret, secretTokens } from '../secretToken.ts'
import type { PortRecord, PortRepository } from './portRepository.ts'

export type PortTokens = {
  /** Returns the token, of which only a hash is kept. */
  create(port: PortRecord): { token: string; expiresAtMs: number }
  /** Whether the token is valid for this port now. */
  fits(token: string, port: PortRecord): boolean
}

/** Half a day, so that a page in use stays open. */
export const portTokenSeconds = 12 * 3600
const pageTokens = secretTokens('spt')

export function portTokens(options: {
  records: PortRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): PortTokens {
  const { records, now, randomBytes } = options
  return {
    create({ sandboxId, port }) {
      const token = pageTokens.create(randomBytes)
      const expiresAtMs = now() + portTokenSeconds * 1000
      records.removeExpiredTokens(now())
      records.addToken({ hash: hashOfSecret(token), sandboxId, port, expiresAtMs })
      return { token, expiresAtMs }
    },
    fits(token, { sandboxId, port }) {
      const found = pageTokens.holder(token, (hash) => records.findToken(hash, now()))
      return found?.sandboxId === sandboxId && found.port === port
    },
  }
}
