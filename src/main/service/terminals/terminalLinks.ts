import { AppError } from '#shared/appError.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { ConstraintError, type Query, type Store } from '#storage/store.ts'
import type { Caller } from '../base/endpoint.ts'
import { toIssuer } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import { terminalLinkRepository } from './terminalLinkRepository.ts'

export type TerminalLinks = {
  /**
   * Creates a token. Only its hash is stored.
   * @throws AppError `sandbox/not-found` if the sandbox or the key of the caller has been deleted
   */
  create(
    caller: Pick<Caller, 'accountId' | 'principal'>,
    sandboxId: SandboxId,
  ): Promise<{ token: string; expiresAtMs: number }>
  /**
   * Identifies the caller that a token belongs to.
   * @returns undefined if the token is unknown or expired, or its issuer has ended
   */
  identify(token: string): Promise<Caller | undefined>
  /** @param id hexadecimal hash of the token */
  findRights(id: string, query?: Query): Promise<{ accountId: AccountId } | undefined>
}

/** One hour: long enough for a terminal session, short enough for a link that is passed on. */
export const linkSeconds = 3600
const linkTokens = createSecretTokens('stl')

export function createTerminalLinks(options: {
  store: Store
  now: () => number
  randomBytes: (count: number) => Buffer
}): TerminalLinks {
  const { store, now, randomBytes } = options
  return {
    async create({ accountId, principal }, sandboxId) {
      const token = linkTokens.create(randomBytes)
      const nowMs = now()
      const expiresAtMs = nowMs + linkSeconds * 1000
      const link = { hash: hashSecret(token), sandboxId, accountId, expiresAtMs, issuer: toIssuer(principal) }
      const adding = store.write(async (tx) => {
        await terminalLinkRepository.removeExpired(tx, nowMs)
        await terminalLinkRepository.add(tx, link)
      })
      await adding.catch((cause: unknown) => {
        if (!(cause instanceof ConstraintError) || cause.kind !== 'foreign-key') throw cause
        throw new AppError('sandbox/not-found', 'Sandbox not found or access denied', { cause })
      })
      return { token, expiresAtMs }
    },
    async identify(token) {
      const link = await linkTokens.findHolder(token, (hash) => terminalLinkRepository.find(store.read, hash, now()))
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
    findRights: (id, query = store.read) => terminalLinkRepository.find(query, Buffer.from(id, 'hex'), now()),
  }
}
