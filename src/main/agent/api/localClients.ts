import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { readCredential } from '#platform/http/requestCredential.ts'
import { AppError } from '#shared/appError.ts'
import { getMe, type Me } from '#shared/contract/auth.ts'
import type { Asker } from '#shared/contract/intents.ts'
import { mcpPath, toolKeyPrefix } from '#shared/contract/toolClients.ts'
import { shortAddress } from '#shared/shortAddress.ts'
import { signInRequesterId } from '../connections/clientPresence.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import type { LocalRoutesOptions } from './localRoutes.ts'

type Options = {
  client: Pick<ServiceClient, 'call'>
  target: () => ServiceTarget | undefined
  now: () => number
}
export type LocalClients = {
  identifyClient: LocalRoutesOptions['identifyClient']
  /** Drops the cache after an account event: a key may have been revoked. */
  forget(): void
}
type CachedMe = { me: Me; untilMs: number }

/** A key that was revoked is known for no longer than this, also when the service could not tell of it. */
const cacheTtlMs = 15_000
const answerMs = 10_000
const maxCached = 256

/**
 * The holder of an API key, or of an access token, of the account that the agent itself belongs to: the service knows
 * whose it is. What was found is remembered for a moment by the hash of the credential, of which nothing else is kept.
 */
export function createLocalClients({ client, target, now }: Options): LocalClients {
  let cache = new Map<string, CachedMe>()
  let cachedFor: string | undefined

  const whoHas = async (credential: string): Promise<Me> => {
    const hash = sha256(credential)
    const cached = cache.get(hash)
    if (cached && cached.untilMs > now()) return cached.me
    if (cache.size >= maxCached) cache = new Map()
    const currentCache = cache // an answer that was under way when all was forgotten is not kept
    const me = await client.call(getMe, {}, { credential, signal: AbortSignal.timeout(answerMs) })
    currentCache.set(hash, { me, untilMs: now() + cacheTtlMs })
    return me
  }

  const identifyClient = async (request: IncomingMessage): Promise<Asker | undefined> => {
    const credential = readCredential(request.headers)
    if (credential === undefined || credential === '') return undefined
    // Tool keys are local and never sent to the service.
    if (credential.startsWith(toolKeyPrefix)) {
      throw new AppError('auth/forbidden', `This key is for tools: it opens ${mcpPath} and nothing else.`)
    }
    const to = target()
    if (!to) throw new AppError('service/unavailable', 'The service that knows this key is away.')
    if (cachedFor !== to.url) cache = new Map()
    cachedFor = to.url
    const [me, ownMe] = await Promise.all([whoHas(credential), whoHas(to.key)])
    if (me.id !== ownMe.id) throw new AppError('auth/forbidden', 'This key is of another account than this Steward.')
    return toRequester(me)
  }
  return {
    identifyClient: identifyClient,
    forget() {
      cache = new Map()
    },
  }
}

function toRequester({ api_key: key, wallet_address: address, id }: Me): Asker {
  if (key) return { kind: 'client', id: `key:${key.id}`, name: key.name, ...(key.limited && { limited: true }) }
  const name = address === null ? 'Signed in' : `Signed in as ${shortAddress(address)}`
  return { kind: 'client', id: signInRequesterId(address ?? id), name }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
