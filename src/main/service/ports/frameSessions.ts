import { hashOfSecret, secretTokens } from '../secretToken.ts'
import type { PortRecord } from './portRepository.ts'

/** Private ports in a frame of one page. In memory: after a restart the page loads its frame again. */
export type FrameSessions = {
  /** @param origin of the page that may show the frame */
  createToken(port: PortId, origin: string): { token: string; expiresAtMs: number }
  /** Exchanges a token, once. @returns the secret of the session; undefined where the token is none of this port */
  open(token: string, port: PortId): string | undefined
  /** @returns the origin of the page, where the session is open for this port */
  findOrigin(secret: string, port: PortId): string | undefined
}

type PortId = Pick<PortRecord, 'sandboxId' | 'port'>
type Entry = PortId & { hash: Buffer; origin: string; expiresAtMs: number }

export const frameTokenSeconds = 60
const sessionMs = 12 * 3_600_000
/** Maximum number of each kind. The oldest is dropped first. */
const maxEntries = 1_000
/** Recognized, and taken out of headers, like the other tokens of ports. */
const secrets = secretTokens('spt')

export function createFrameSessions(options: {
  now: () => number
  randomBytes: (count: number) => Buffer
}): FrameSessions {
  const { now, randomBytes } = options
  const [tokens, sessions] = [new Map<string, Entry>(), new Map<string, Entry>()]
  const add = (
    entries: Map<string, Entry>,
    { sandboxId, port }: PortId,
    origin: string,
    expiresAtMs: number,
  ): string => {
    const secret = secrets.create(randomBytes)
    const hash = hashOfSecret(secret)
    const [oldest] = entries.keys()
    if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest)
    entries.set(hash.toString('hex'), { sandboxId, port, hash, origin, expiresAtMs })
    return secret
  }
  const find = (entries: Map<string, Entry>, secret: string, { sandboxId, port }: PortId): Entry | undefined => {
    const entry = secrets.holder(secret, (hash) => entries.get(hash.toString('hex')))
    const isOpen = entry?.sandboxId === sandboxId && entry.port === port && entry.expiresAtMs > now()
    return isOpen ? entry : undefined
  }
  return {
    createToken(port, origin) {
      const expiresAtMs = now() + frameTokenSeconds * 1000
      return { token: add(tokens, port, origin, expiresAtMs), expiresAtMs }
    },
    open(token, port) {
      const entry = find(tokens, token, port)
      if (!entry) return undefined
      tokens.delete(entry.hash.toString('hex'))
      return add(sessions, port, entry.origin, now() + sessionMs)
    },
    findOrigin: (secret, port) => find(sessions, secret, port)?.origin,
  }
}
