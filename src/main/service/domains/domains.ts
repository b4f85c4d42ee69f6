import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Store } from '#storage/store.ts'
import type { DomainRepository, DomainRow } from './domainRepository.ts'
import { mapRegistrarErrors, toAppError } from './registrarErrors.ts'
import { type Registrar, RegistrarError } from './registrars/registrar.ts'

export type Source = 'live' | 'cache' | 'stale'
export type CachedDomain = DomainRow & { source: Source }

export type Domains = {
  /** Lists the cached domains of an account; stale ones are refreshed in the background. */
  list(accountId: AccountId): Promise<CachedDomain[]>
  /** Returns a cached domain, and refreshes it in the background if it is stale. @throws AppError `domain/not-found` */
  get(accountId: AccountId, name: string): Promise<CachedDomain>
  /** @throws AppError `domain/not-found`, also for domains of other accounts */
  requireOwned(accountId: AccountId, name: string): Promise<DomainRow>
  /**
   * Reads the domain from the registrar.
   * @throws AppError `domain/registrar`, `domain/not-found`, or `domain/state` if it left the account
   */
  refresh(owner: Owner): Promise<DomainRow>
  /**
   * Reads a domain that the account bought, and which may have belonged to another account before.
   * @throws AppError `domain/registrar`, `domain/state`
   */
  acquire(owner: Owner): Promise<DomainRow>
  /**
   * Changes the domain at the registrar, then reads it.
   * @throws AppError `domain/not-found`, `domain/registrar`, `domain/state`, `domain/unknown-outcome`
   */
  change(accountId: AccountId, name: string, change: DomainChange): Promise<DomainRow>
  /** Starts no more background refreshes and waits for those in progress. */
  close(): Promise<void>
}

type Owner = { accountId: AccountId; name: string }

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
  store: Store
  records: DomainRepository
  registrar: Registrar
  now: () => number
  log: Log
  onChanged: (accountId: AccountId) => void
}): Domains {
  const { store, records, registrar, now, log, onChanged } = options
  const waiting = new Map<string, DomainRow>()
  const underWay = new Map<string, Promise<void>>()

  /** @param mayTransfer whether the domain may belong to another account, which lost it */
  const refresh = async ({ accountId, name }: Owner, { mayTransfer }: { mayTransfer: boolean }): Promise<DomainRow> => {
    const current = await registrar.find(name).catch(async (error: unknown) => {
      await store.write((tx) => records.markFailed(tx, name, now()))
      throw error
    })
    const readAtMs = now()
    const { before, after } = await store.write(async (tx) => {
      const before = await records.find(tx, name)
      // In the meantime, an order of another account may have bought the domain.
      if (before && before.accountId !== accountId && !mayTransfer) throw createMissingError(name)
      if (current) await records.save(tx, { ...current, accountId, readAtMs })
      else await records.markLeft(tx, name, readAtMs)
      return { before, after: await records.find(tx, name) }
    })
    if (!current) {
      if (before?.leftAtMs === null) onChanged(accountId)
      throw new RegistrarError('refused', `${name} is not in this service's account at the registrar.`)
    }
    if (!after) throw new Error('A domain that was just stored is missing.')
    if (isOther(before, after)) onChanged(accountId)
    return after
  }
  const refreshOwned = (owner: Owner): Promise<DomainRow> => refresh(owner, { mayTransfer: false })
  const readNext = (): void => {
    for (const [name, next] of waiting) {
      if (underWay.size >= maxAtOnce) return
      waiting.delete(name)
      const reading = refreshOwned(next)
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
  const requireOwned = async (accountId: AccountId, name: string): Promise<DomainRow> => {
    const row = await records.find(store.read, name)
    if (row?.accountId === accountId) return row
    throw createMissingError(name)
  }

  return {
    requireOwned,
    list: async (accountId) => (await records.list(store.read, accountId)).map(toCached),
    get: async (accountId, name) => toCached(await requireOwned(accountId, name)),
    refresh: (owner) => mapRegistrarErrors(refreshOwned(owner)),
    acquire: (owner) => mapRegistrarErrors(refresh(owner, { mayTransfer: true })),
    async change(accountId, name, { work, isDone }) {
      await requireOwned(accountId, name)
      try {
        await work(registrar)
      } catch (error) {
        const isUnclear = error instanceof RegistrarError && error.kind === 'unclear'
        const after = isUnclear ? await refreshOwned({ accountId, name }).catch(() => undefined) : undefined
        if (after && isDone(after)) return after
        throw isUnclear ? createUnknownChangeError(registrar.title, name, error) : toAppError(error)
      }
      return await mapRegistrarErrors(refreshOwned({ accountId, name }))
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

function createMissingError(name: string): AppError {
  return new AppError('domain/not-found', `You have no domain ${name}.`)
}

function createUnknownChangeError(title: string, name: string, cause: unknown): AppError {
  return new AppError('domain/unknown-outcome', `${title} did not report whether it changed ${name}.`, { cause })
}
