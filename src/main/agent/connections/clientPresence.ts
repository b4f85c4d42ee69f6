import { createHash } from 'node:crypto'
import type { PrincipalId } from '#platform/access/principals.ts'
import type { Log } from '#platform/logging/log.ts'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { getMe, maxSignInIds } from '#shared/contract/auth.ts'
import type { AgentPrincipals, PrincipalRights } from '../base/agentPrincipals.ts'
import type { RemovedThings } from '../base/removedThings.ts'
import type { ServiceClient } from './serviceClient.ts'
import type { ServiceLink } from './serviceLink.ts'

/**
 * Ends API keys and sign-ins that the service revoked. The outbox of the service reports removed keys. In addition,
 * principals with work here are compared with the account's keys, wallets and sign-ins on each connect and while the
 * account's activity grows: an earlier service has no outbox, and no outbox reports unlinked wallets and sign-outs.
 * Keys and sign-ins of another account end when Steward connects to this one.
 */
export type ClientPresence = {
  /** @returns undefined if the key, the wallet or the sign-in was missing in a comparison */
  getRights(principal: PrincipalId): PrincipalRights | undefined
  /** Compares immediately. If the service does not respond within 3 s, nothing changes. */
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
/** Minimum interval of comparisons, because activity may grow with every command. */
const paceMs = 1_000
/**
 * Maximum number of remembered ended principals. The service rejects them too, once results cached for 15 seconds have
 * expired.
 */
const maxEnded = 10_000
const present: PrincipalRights = {}

/** Returns the id of a requester that signed in with this wallet, or with an account without a wallet. */
export function signInRequesterId(addressOrAccount: string): `token:${string}` {
  return `token:${createHash('sha256').update(addressOrAccount).digest('hex').slice(0, 24)}`
}

/** Returns the sign-in of a principal `token:<wallet>/<sign-in>`, or undefined for other principals. */
function readSignInId(principal: PrincipalId): string | undefined {
  return principal.startsWith('token:') ? principal.split('/')[1] : undefined
}

export function createClientPresence({ link, client, removed, principals, log }: Options): ClientPresence {
  /** Principals with work here that no comparison found missing. */
  const announced = new Set<PrincipalId>()
  const ended = new Set<PrincipalId>()
  let running: Promise<void> | undefined
  let again = false

  const compare = async (): Promise<void> => {
    // Principals added after the request may be missing from the response.
    const before = [...announced]
    const absentSignIns = [...ended].filter((id) => id.startsWith('token:') && readSignInId(id) === undefined)
    if (before.length + absentSignIns.length === 0) return
    const signal = AbortSignal.timeout(timeoutMs)
    const [{ api_keys: keys }, me] = await Promise.all([
      client.call(listApiKeys, {}, { signal }),
      client.call(getMe, {}, { signal }),
    ])
    const current = new Set<string>([
      ...keys.map(({ id }) => `key:${id}`),
      ...[me.id, ...me.wallets.map(({ wallet_address: address }) => address)].map(signInRequesterId),
    ])
    const isCurrent = (principal: PrincipalId): boolean => current.has(principal.split('/')[0] ?? '')
    for (const principal of before) if (!isCurrent(principal)) end(principal)
    // The wallet of the sign-in was linked again. Revoked keys and ended sign-ins never become valid again.
    for (const principal of absentSignIns) if (current.has(principal)) ended.delete(principal)
    await compareSignIns(before.filter(isCurrent))
  }
  /** An earlier service ignores the query. Its sign-ins end with their wallet. */
  const compareSignIns = async (principals: readonly PrincipalId[]): Promise<void> => {
    const signIns = principals.flatMap((principal) => {
      const id = readSignInId(principal)
      return id === undefined ? [] : [{ principal, id }]
    })
    for (let start = 0; start < signIns.length; start += maxSignInIds) {
      const part = signIns.slice(start, start + maxSignInIds)
      const query = { sign_in_ids: part.map(({ id }) => id).join(',') }
      const { active_sign_in_ids: ids } = await client.call(getMe, query, { signal: AbortSignal.timeout(timeoutMs) })
      if (!ids) return
      const active = new Set(ids)
      for (const { principal, id } of part) if (!active.has(id)) end(principal)
    }
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
        await compare().catch((error: unknown) => log.info('failed to compare API keys', { error }))
      } while (again)
      running = undefined
    }
    running = run()
    return running
  }
  let timer: NodeJS.Timeout | undefined
  const unsubscribeFromLink = link.subscribe(({ type }) => {
    if (type === 'ready') void refresh()
    if (type !== 'activity.noted' || timer) return
    timer = setTimeout(() => {
      timer = undefined
      void refresh()
    }, paceMs).unref()
  })
  const unsubscribeFromRemoved = removed.subscribe({ kind: 'key', onRemoved: ({ id }) => end(`key:${id}`) })

  return {
    getRights(principal) {
      if (ended.has(principal)) return undefined
      announced.add(principal)
      return present
    },
    refresh,
    close() {
      unsubscribeFromLink()
      unsubscribeFromRemoved()
      clearTimeout(timer)
    },
  }
}
