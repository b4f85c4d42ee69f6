import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { toIssuer } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { TerminalLinkRepository } from './terminalLinkRepository.ts'

export type TerminalLinks = {
  /** Creates a token. Only its hash is stored. */
  create(caller: Pick<Caller, 'accountId' | 'principal'>, sandboxId: SandboxId): { token: string; expiresAtMs: number }
  /**
   * Identifies the caller that a token belongs to.
   * @returns undefined if the token is unknown or expired, or its issuer has ended
   */
  identify(token: string): Caller | undefined
  /** @param id hexadecimal hash of the token */
  findRights(id: string): { accountId: AccountId } | undefined
}

/** One hour: long enough for a terminal session, short enough for a link that is passed on. */
export const linkSeconds = 3600
const linkTokens = createSecretTokens('stl')

export function createTerminalLinks(options: {
  links: TerminalLinkRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): TerminalLinks {
  const { links, now, randomBytes } = options
  return {
    create({ accountId, principal }, sandboxId) {
      const token = linkTokens.create(randomBytes)
      const expiresAtMs = now() + linkSeconds * 1000
      links.removeExpired(now())
      links.add({ hash: hashSecret(token), sandboxId, accountId, expiresAtMs, issuer: toIssuer(principal) })
      return { token, expiresAtMs }
    },
    identify(token) {
      const link = linkTokens.holder(token, (hash) => links.find(hash, now()))
      if (!link) return undefined
      const { accountId, sandboxId: onlySandbox, issuerKey } = link
      return {
        accountId,
        principal: `link:${link.hash.toString('hex')}`,
        owner: false,
        managesAccount: false,
        onlySandbox,
        keyId: undefined,
        ...(issuerKey && { actingKey: issuerKey }),
        wallet: undefined,
      }
    },
    findRights: (id) => links.find(Buffer.from(id, 'hex'), now()),
  }
}
