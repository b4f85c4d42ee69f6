import { createHash } from 'node:crypto'
import type { Log } from '#platform/log.ts'
import type { PrincipalId } from '#platform/principals.ts'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { getMe } from '#shared/contract/auth.ts'
import type { AgentPrincipals, PrincipalRights } from '../base/agentPrincipals.ts'
import type { RemovedThings } from '../references/removedThings.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'

/**
 * Ends API keys and sign-ins that the service revoked. Removals of keys come by its outbox. In addition, principals that have
 * work here are compared with the account's keys and wallets at each connect and while the account's activity grows: an earlier
 * service has no outbox, and none tells of unlinked wallets.
 */
export type ClientPresence = {
  /** @returns undefined once the key or the wallet was found missing */
  getRights(principal: PrincipalId): PrincipalRights | undefined
  /** Compares now. A service that does not answer within 3 s changes nothing. */
  refresh(): Promise<void>
  close(): void
}

type Options = {
  link: Pick<ServiceLink, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  removed: Pick<RemovedThings, 'subscribe'>
  principals: Pick<AgentPrincipals, 'end'>
  log: Log
}

const timeoutMs = 3_000
/** Activity may grow with every command. */
const paceMs = 1_000
/** Ended principals that are remembered: the service refuses them too, once an answer of 15 seconds ago is forgotten. */
const maxEnded = 10_000
const present: PrincipalRights = {}

/** Returns the id of a requester that signed in with this wallet, or with an account without one. */
export function signInRequesterId(addressOrAccount: string): `token:${string}` {
  return `token:${createHash('sha256').update(addressOrAccount).digest('hex').slice(0, 24)}`
}

export function createClientPresence({ link, client, removed, principals, log }: Options): ClientPresence {
  /** Principals that had work here and were not found missing. */
  const announced = new Set<PrincipalId>()
  const ended = new Set<PrincipalId>()
  let running: Promise<void> | undefined
  let again = false

  const compare = async (): Promise<void> => {
    // A client that is added later may be newer than the answer.
    const before = [...announced]
    const absentSignIns = [...ended].filter((principal) => principal.startsWith('token:'))
    if (before.length + absentSignIns.length === 0) return
    const signal = AbortSignal.timeout(timeoutMs)
    const [{ api_keys: keys }, me] = await Promise.all([
      client.call(listApiKeys, {}, { signal }),
      client.call(getMe, {}, { signal }),
    ])
    const current = new Set<PrincipalId>([
      ...keys.map(({ id }) => `key:${id}` as const),
      ...[me.id, ...me.wallets.map(({ wallet_address: address }) => address)].map(signInRequesterId),
    ])
    for (const principal of before) if (!current.has(principal)) end(principal)
    // The wallet of the sign-in was linked again. A revoked key never comes back.
    for (const principal of absentSignIns) if (current.has(principal)) ended.delete(principal)
  }
  const end = (principal: PrincipalId): void => {
    announced.delete(principal)
    const [oldest] = ended
    if (ended.size >= maxEnded && oldest !== undefined) ended.delete(oldest)
    ended.add(principal)
    principals.end(principal)
  }
  const refresh = (): Promise<void> => {
    if (running) {
      again = true
      return running
    }
    const run = async (): Promise<void> => {
      do {
        again = false
        await compare().catch((error: unknown) => log.info('API keys could not be compared', { error }))
      } while (again)
      running = undefined
    }
    running = run()
    return running
  }
  let timer: NodeJS.Timeout | undefined
  const leaveLink = link.subscribe(({ type }) => {
    if (type === 'ready') void refresh()
    if (type !== 'activity.noted' || timer) return
    timer = setTimeout(() => {
      timer = undefined
      void refresh()
    }, paceMs).unref()
  })
  const leaveRemoved = removed.subscribe({ kind: 'key', onRemoved: ({ id }) => end(`key:${id}`) })

  return {
    getRights(principal) {
      if (ended.has(principal)) return undefined
      announced.add(principal)
      return present
    },
    refresh,
    close() {
      leaveLink()
      leaveRemoved()
      clearTimeout(timer)
    },
  }
}
