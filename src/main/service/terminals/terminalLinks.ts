import { createHash, timingSafeEqual } from 'node:crypto'
import type { AccountId, SandboxId } from '../../../shared/ids.ts'
import type { Caller } from '../endpoint.ts'
import type { TerminalLinkRepository } from './terminalLinkRepository.ts'

export type TerminalLinks = {
  /** The token is in the answer and nowhere else: only its hash is kept. */
  create(accountId: AccountId, sandboxId: SandboxId): { token: string; expiresAtMs: number }
  /** Who holds this token; undefined when nobody does any more. */
  identify(token: string): Caller | undefined
}

/** One hour: enough for a session at a terminal, short enough for an address that is passed on. */
export const linkSeconds = 3600
const tokenPattern = /^stl_[A-Za-z0-9_-]{43}$/

export function terminalLinks(options: {
  links: TerminalLinkRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): TerminalLinks {
  const { links, now, randomBytes } = options
  return {
    create(accountId, sandboxId) {
      const token = `stl_${randomBytes(32).toString('base64url')}`
      const expiresAtMs = now() + linkSeconds * 1000
      links.removeExpired(now())
      links.add({ hash: hashOf(token), sandboxId, accountId, expiresAtMs })
      return { token, expiresAtMs }
    },
    identify(token) {
      if (!tokenPattern.test(token)) return undefined
      const hash = hashOf(token)
      const link = links.find(hash, now())
      if (!link || !timingSafeEqual(link.hash, hash)) return undefined
      const { accountId, sandboxId: onlySandbox } = link
      return { accountId, owner: false, onlySandbox, keyId: undefined, wallet: undefined }
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
