import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { readCredential } from '#platform/http/requestCredential.ts'
import { AppError } from '#shared/appError.ts'
import { getMe, type Me } from '#shared/contract/auth.ts'
import type { Requester } from '#shared/contract/intents.ts'
import { mcpPath, toolKeyPrefix } from '#shared/contract/toolClients.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { signInRequesterId } from '../connections/clientPresence.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import type { LocalRoutesOptions } from './localRoutes.ts'

type Options = {
  client: Pick<ServiceClient, 'call'>
  target: () => ServiceTarget | undefined
  now: () => number
}
export type CredentialAuthenticator = {
  identifyClient: LocalRoutesOptions['identifyClient']
  /** Clears the cache after an account event, because a key may have been revoked. */
  forget(): void
}
type CachedAccount = { me: Me; untilMs: number }

/** Maximum time that a revoked key remains valid if the service cannot announce the revocation, in milliseconds. */
const cacheTtlMs = 15_000
const timeoutMs = 10_000
const maxCached = 256

/**
 * Identifies callers with API keys and access tokens of the agent's account by asking the service. Results are cached
 * briefly by the hash of the credential, which is not stored otherwise.
 */
export function createCredentialAuthenticator({ client, target, now }: Options): CredentialAuthenticator {
  let cache = new Map<string, CachedAccount>()
  let cachedFor: string | undefined

  const whoHas = async (credential: string): Promise<Me> => {
    const hash = sha256(credential)
    const cached = cache.get(hash)
    if (cached && cached.untilMs > now()) return cached.me
    if (cache.size >= maxCached) cache = new Map()
    const currentCache = cache // a response to a request from before `forget` is not cached
    const me = await client.call(getMe, {}, { credential, signal: AbortSignal.timeout(timeoutMs) })
    currentCache.set(hash, { me, untilMs: now() + cacheTtlMs })
    return me
  }

  const identifyClient = async (request: IncomingMessage): Promise<Requester | undefined> => {
    const credential = readCredential(request.headers)
    if (credential === undefined || credential === '') return undefined
    // Tool keys are local and are never sent to the service.
    if (credential.startsWith(toolKeyPrefix)) {
      throw new AppError('auth/forbidden', `This key is a tool client key. It only works for ${mcpPath}.`)
    }
    const to = target()
    if (!to) throw new AppError('service/unavailable', 'The service that can verify this key is unavailable.')
    if (cachedFor !== to.url) cache = new Map()
    cachedFor = to.url
    const [me, ownMe] = await Promise.all([whoHas(credential), whoHas(to.key)])
    if (me.id !== ownMe.id)
      throw new AppError('auth/forbidden', 'This key belongs to a different account than this Steward.')
    return toRequester(me)
  }
  return {
    identifyClient,
    forget() {
      cache = new Map()
    },
  }
}

function toRequester({ api_key: key, wallet_address: address, id, sign_in_id: signInId }: Me): Requester {
  if (key) return { kind: 'client', id: `key:${key.id}`, name: key.name, ...(key.limited && { limited: true }) }
  const name = address === null ? 'Signed in' : `Signed in as ${shortenAddress(address)}`
  const requester = { kind: 'client', id: signInRequesterId(address ?? id), name } as const
  return typeof signInId === 'string' ? { ...requester, sign_in: signInId } : requester
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
