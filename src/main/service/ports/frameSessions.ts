import type { PrincipalId } from '#platform/access/principals.ts'
import type { SandboxId } from '#shared/ids.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { PortRecord } from './portRepository.ts'

/** Access to private ports from a frame of one page. Held in memory: after a restart the page reloads its frame. */
export type FrameSessions = {
  /** @param origin origin of the page that may show the frame */
  createToken(port: PortId, origin: string, issuer: PrincipalId): { token: string; expiresAtMs: number }
  /**
   * Exchanges a token once.
   * @returns the secret of the session, or undefined if the token is not valid for this port
   */
  open(token: string, port: PortId): Promise<string | undefined>
  /** @returns the session if it is open for this port */
  find(secret: string, port: PortId): Promise<FrameSession | undefined>
  /** @param id hexadecimal hash of the secret */
  findSandbox(id: string): Promise<SandboxId | undefined>
}

export type FrameSession = {
  principal: PrincipalId
  /** Origin of the page that shows the frame. */
  origin: string
}

type PortId = Pick<PortRecord, 'sandboxId' | 'port'>
type Entry = PortId & { hash: Buffer; origin: string; issuer: PrincipalId; expiresAtMs: number }

export const frameTokenSeconds = 60
const sessionMs = 12 * 3_600_000
/** Maximum number of tokens and of sessions. The oldest is removed first. */
const maxEntries = 1_000
/** Recognized and removed from headers like other port tokens. */
const secrets = createSecretTokens('spt')

export function createFrameSessions(options: {
  now: () => number
  randomBytes: (count: number) => Buffer
  /** Whether the issuer of a token or session still has rights. */
  isPresent: (issuer: PrincipalId) => Promise<boolean>
}): FrameSessions {
  const { now, randomBytes, isPresent } = options
  const [tokens, sessions] = [new Map<string, Entry>(), new Map<string, Entry>()]
  const add = (entries: Map<string, Entry>, entry: Omit<Entry, 'hash'>): string => {
    const secret = secrets.create(randomBytes)
    const hash = hashSecret(secret)
    const [oldest] = entries.keys()
    if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest)
    entries.set(hash.toString('hex'), { ...entry, hash })
    return secret
  }
  const isOpen = async ({ expiresAtMs, issuer }: Entry) => expiresAtMs > now() && (await isPresent(issuer))
  const find = async (
    entries: Map<string, Entry>,
    secret: string,
    { sandboxId, port }: PortId,
  ): Promise<Entry | undefined> => {
    const entry = secrets.holder(secret, (hash) => entries.get(hash.toString('hex')))
    return entry?.sandboxId === sandboxId && entry.port === port && (await isOpen(entry)) ? entry : undefined
  }
  return {
    createToken({ sandboxId, port }, origin, issuer) {
      const expiresAtMs = now() + frameTokenSeconds * 1000
      return { token: add(tokens, { sandboxId, port, origin, issuer, expiresAtMs }), expiresAtMs }
    },
    async open(token, port) {
      const entry = await find(tokens, token, port)
      // Only the exchange that removes the token gets a session, also among concurrent ones.
      if (!entry || !tokens.delete(entry.hash.toString('hex'))) return undefined
      return add(sessions, { ...entry, expiresAtMs: now() + sessionMs })
    },
    async find(secret, port) {
      const entry = await find(sessions, secret, port)
      return entry && { principal: `frame:${entry.hash.toString('hex')}`, origin: entry.origin }
    },
    async findSandbox(id) {
      const entry = sessions.get(id)
      return entry && (await isOpen(entry)) ? entry.sandboxId : undefined
    },
  }
}
