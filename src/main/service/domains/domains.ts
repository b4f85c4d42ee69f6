import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { DomainRepository, DomainRow } from './domainRepository.ts'
import { mapRegistrarErrors, toAppError } from './registrarErrors.ts'
import { type Registrar, RegistrarError } from './registrars/registrar.ts'

export type Source = 'live' | 'cache' | 'stale'
export type CachedDomain = DomainRow & { source: Source }

export type Domains = {
  /** Lists the cached domains of an account; stale ones are refreshed in the background. */
  list(accountId: AccountId): CachedDomain[]
  /** Returns a cached domain, and refreshes it in the background if it is stale. @throws AppError `domain/not-found` */
  get(accountId: AccountId, name: string): CachedDomain
  /** @throws AppError `domain/not-found`, also for domains of other accounts */
  requireOwned(accountId: AccountId, name: string): DomainRow
  /**
   * Reads the domain from the registrar.
   * @throws AppError `domain/registrar`, or `domain/state` if it left the account
   */
  refresh(owner: { accountId: AccountId; name: string }): Promise<DomainRow>
  /**
   * Changes the domain at the registrar, then reads it.
   * @throws AppError `domain/not-found`, `domain/registrar`, `domain/state`, `domain/unknown-outcome`
   */
  change(accountId: AccountId, name: string, change: DomainChange): Promise<DomainRow>
  /** Starts no more background refreshes and waits for those in progress. */
  close(): Promise<void>
}

export type DomainChange = {
  work: (registrar: Registrar) => Promise<void>
  /** Whether a change with an unknown outcome was made, according to the domain's current state. */
  isDone: (domain: DomainRow) => boolean
}

/** Older entries are stale: they are returned immediately and refreshed in the background. */
const freshMs = 5 * 60_000
/** Delay before an unresponsive registrar is queried again. */
const retryMs = 30_000
/** Concurrency of background refreshes. */
const maxAtOnce = 4

export function createDomains(options: {
  records: DomainRepository
  registrar: Registrar
  now: () => number
  log: Log
  onChanged: (accountId: AccountId) => void
}): Domains {
  const { records, registrar, now, log, onChanged } = options
  const waiting = new Map<string, DomainRow>()
  const underWay = new Map<string, Promise<void>>()

  const refresh = async ({ accountId, name }: { accountId: AccountId; name: string }): Promise<DomainRow> => {
    const before = records.find(name)
    const current = await registrar.find(name).catch((error: unknown) => {
      if (before) records.markFailed(name, now())
      throw error
    })
    if (!current) {
      if (before) records.markLeft(name, now())
      if (before?.leftAtMs === null) onChanged(accountId)
      throw new RegistrarError('refused', `${name} is not in this service's account at the registrar.`)
    }
    records.keep({ ...current, accountId, readAtMs: now() })
    const after = records.find(name)
    if (!after) throw new Error('A domain that was just stored is missing.')
    if (isOther(before, after)) onChanged(accountId)
    return after
  }
  const readNext = (): void => {
    for (const [name, next] of waiting) {
      if (underWay.size >= maxAtOnce) return
      waiting.delete(name)
      const reading = refresh(next)
        .catch((error) => log.warn('failed to read a domain', { domain: next.name, error }))
        .then(() => {
          underWay.delete(next.name)
          readNext()
        })
      underWay.set(next.name, reading)
    }
  }
  const revalidate = (row: DomainRow): void => {
    if (underWay.has(row.name)) return
    waiting.set(row.name, row)
    readNext()
  }
  const toCached = (row: DomainRow): CachedDomain => {
    const nowMs = now()
    const isOld = nowMs - row.readAtMs > freshMs || (row.status === 'pending' && nowMs > row.readAtMs)
    if (isOld && (row.failedAtMs === null || nowMs - row.failedAtMs > retryMs)) revalidate(row)
    return { ...row, source: row.failedAtMs === null ? 'cache' : 'stale' }
  }
  const requireOwned = (accountId: AccountId, name: string): DomainRow => {
    const row = records.find(name)
    if (row?.accountId === accountId) return row
    throw new AppError('domain/not-found', `You have no domain ${name}.`)
  }

  return {
    requireOwned,
    list: (accountId) => records.list(accountId).map(toCached),
    get: (accountId, name) => toCached(requireOwned(accountId, name)),
    refresh: (refreshed) => mapRegistrarErrors(refresh(refreshed)),
    async change(accountId, name, { work, isDone }) {
      requireOwned(accountId, name)
      try {
        await work(registrar)
      } catch (error) {
        const isUnclear = error instanceof RegistrarError && error.kind === 'unclear'
        const after = isUnclear ? await refresh({ accountId, name }).catch(() => undefined) : undefined
        if (after && isDone(after)) return after
        throw isUnclear ? createUnknownChangeError(registrar.title, name, error) : toAppError(error)
      }
      return await mapRegistrarErrors(refresh({ accountId, name }))
    },
    async close() {
      waiting.clear()
      await Promise.all(underWay.values())
    },
  }
}

function isOther(before: DomainRow | undefined, { readAtMs: _, ...after }: DomainRow): boolean {
  if (!before) return true
  const { readAtMs: __, ...earlier } = before
  return JSON.stringify(earlier) !== JSON.stringify(after)
}

function createUnknownChangeError(title: string, name: string, cause: unknown): AppError {
  return new AppError('domain/unknown-outcome', `${title} did not report whether it changed ${name}.`, { cause })
}
