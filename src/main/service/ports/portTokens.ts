import type { PrincipalId } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'
import { ConstraintError, type Query, type Store } from '#storage/store.ts'
import { toIssuer } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { PortRecord } from './portRepository.ts'
import { portTokenRepository } from './portTokenRepository.ts'

export type PortTokens = {
  /** Creates a token. Only its hash is stored. @throws AppError `port/not-found` if the port was removed */
  create(port: PortRecord, issuer: PrincipalId): Promise<{ token: string; expiresAtMs: number }>
  /** @returns the principal of the token if it is currently valid for this port */
  find(token: string, port: PortRecord): Promise<PrincipalId | undefined>
  /** @param id hexadecimal hash of the token */
  findSandbox(id: string, query?: Query): Promise<SandboxId | undefined>
}

/** Half a day, so that a page in use stays open. */
export const portTokenSeconds = 12 * 3600
const pageTokens = createSecretTokens('spt')

export function createPortTokens(options: {
  store: Store
  now: () => number
  randomBytes: (count: number) => Buffer
}): PortTokens {
  const { store, now, randomBytes } = options
  return {
    async create({ sandboxId, port }, issuer) {
      const token = pageTokens.create(randomBytes)
      const nowMs = now()
      const expiresAtMs = nowMs + portTokenSeconds * 1000
      const record = { hash: hashSecret(token), sandboxId, port, expiresAtMs, issuer: toIssuer(issuer) }
      const adding = store.write(async (tx) => {
        await portTokenRepository.removeExpired(tx, nowMs)
        await portTokenRepository.add(tx, record)
      })
      await adding.catch((cause: unknown) => {
        if (!(cause instanceof ConstraintError) || cause.kind !== 'foreign-key') throw cause
        throw new AppError('port/not-found', `Port ${port} of this sandbox is not exposed.`, { cause })
      })
      return { token, expiresAtMs }
    },
    async find(token, { sandboxId, port }) {
      const holder = await pageTokens.findHolder(token, (hash) => portTokenRepository.find(store.read, hash, now()))
      const fits = holder?.sandboxId === sandboxId && holder.port === port
      return fits ? `port-token:${holder.hash.toString('hex')}` : undefined
    },
    async findSandbox(id, query = store.read) {
      return (await portTokenRepository.find(query, Buffer.from(id, 'hex'), now()))?.sandboxId
    },
  }
}
