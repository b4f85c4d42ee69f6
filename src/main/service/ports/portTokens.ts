import type { PrincipalId } from '#platform/access/principals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { toIssuer } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { PortRecord, PortRepository } from './portRepository.ts'

export type PortTokens = {
  /** Creates a token. Only its hash is stored. */
  create(port: PortRecord, issuer: PrincipalId): { token: string; expiresAtMs: number }
  /** @returns the principal of the token if it is currently valid for this port */
  find(token: string, port: PortRecord): PrincipalId | undefined
  /** @param id hexadecimal hash of the token */
  findSandbox(id: string): SandboxId | undefined
}

/** Half a day, so that a page in use stays open. */
export const portTokenSeconds = 12 * 3600
const pageTokens = createSecretTokens('spt')

export function createPortTokens(options: {
  records: PortRepository
  now: () => number
  randomBytes: (count: number) => Buffer
}): PortTokens {
  const { records, now, randomBytes } = options
  return {
    create({ sandboxId, port }, issuer) {
      const token = pageTokens.create(randomBytes)
      const expiresAtMs = now() + portTokenSeconds * 1000
      records.removeExpiredTokens(now())
      records.addToken({ hash: hashSecret(token), sandboxId, port, expiresAtMs, issuer: toIssuer(issuer) })
      return { token, expiresAtMs }
    },
    find(token, { sandboxId, port }) {
      const holder = pageTokens.holder(token, (hash) => records.findToken(hash, now()))
      const fits = holder?.sandboxId === sandboxId && holder.port === port
      return fits ? `port-token:${holder.hash.toString('hex')}` : undefined
    },
    findSandbox: (id) => records.findToken(Buffer.from(id, 'hex'), now())?.sandboxId,
  }
}
