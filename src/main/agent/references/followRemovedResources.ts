import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { listApiKeys } from '#shared/contract/accounts.ts'
import { getMe } from '#shared/contract/auth.ts'
import { listDomains } from '#shared/contract/domains.ts'
import { listFoundSandboxes } from '#shared/contract/foundSandboxes.ts'
import { listRemovedThings, removedKinds, removedThingLimits } from '#shared/contract/removedThings.ts'
import { listSandboxes } from '#shared/contract/sandboxes.ts'
import type { RemovedKind, RemovedThing, RemovedThings } from '../base/removedThings.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import type { ExistingResourceRepository } from './existingResourceRepository.ts'

type Options = {
  link: Pick<ServiceLink, 'subscribe'>
  client: Pick<ServiceClient, 'call'>
  records: ExistingResourceRepository
  removed: Pick<RemovedThings, 'deliver' | 'listReferred'>
  log: Log
}

const retry = { firstMs: 2_000, maxMs: 60_000 } as const
/** Maximum number of attempts to deliver an entry before it is skipped. */
const maxAttempts = 5
const pageSize = removedThingLimits.listed.max
/**
 * Maximum number of pages per run. A service stores 1,000 entries per account, so more pages indicate an endless list.
 */
const maxPages = 20
/** Maximum number of sandboxes recorded between two comparisons. The next comparison stores the rest. */
const maxAnnounced = 10_000

type FollowState = {
  account: string | undefined
  isCompared: boolean
  /** Sandboxes that changed since the last comparison started, because its list may be older. */
  recent: Map<string, string>
  announced: number
}

/**
 * Delivers removals of the service. Reads its outbox from the last acknowledged entry, and on each connection compares
 * the stored things with the existing ones. A sandbox with files but without a row counts as existing.
 */
export function followRemovedResources(options: Options): { close(): Promise<void> } {
  const { link, client, records, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const state: FollowState = { account: undefined, isCompared: false, recent: new Map(), announced: 0 }
  const readOutbox = createOutboxReader(options, state, signal)
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let pending: { compare: boolean } | undefined
  let retryMs: number = retry.firstMs

  const run = async (work: { compare: boolean }): Promise<void> => {
    try {
      const hasOutbox = await readOutbox()
      if (!hasOutbox) {
        state.account = (await client.call(getMe, {}, { signal })).id
        records.adopt(state.account)
      }
      if (state.account !== undefined && (work.compare || !hasOutbox)) {
        await compareResources(options, { accountId: state.account, recent: state.recent, signal })
        state.recent.clear()
        state.announced = 0
        state.isCompared = true
      }
      retryMs = retry.firstMs
    } catch (error) {
      if (signal.aborted) return
      log.warn('failed to follow removals at the service', { error })
      pending = { compare: work.compare || (pending?.compare ?? false) }
      timer = setTimeout(begin, retryMs)
      retryMs = Math.min(retryMs * 2, retry.maxMs)
    }
  }
  const begin = (): void => {
    if (running || !pending || signal.aborted) return
    clearTimeout(timer)
    timer = undefined
    const work = pending
    pending = undefined
    running = run(work).finally(() => {
      running = undefined
      if (!timer) begin()
    })
  }

  const unsubscribe = link.subscribe((event) => {
    if (event.type === 'sandbox.changed') {
      const { id, name } = event.sandbox
      state.announced += 1
      if (state.announced > maxAnnounced) return
      if (state.isCompared && state.account !== undefined) records.add(state.account, 'sandbox', { id, name })
      else state.recent.set(id, name)
      return
    }
    if (event.type !== 'ready' && event.type !== 'things.removed' && event.type !== 'sandbox.removed') return
    if (event.type === 'ready') state.isCompared = false
    pending = { compare: event.type === 'ready' || (pending?.compare ?? false) }
    begin()
  })
  return {
    async close() {
      unsubscribe()
      closing.abort()
      clearTimeout(timer)
      await running
    },
  }
}

/** Creates the reader that delivers new outbox entries. It returns whether the service has an outbox. */
function createOutboxReader({ client, records, removed, log }: Options, state: FollowState, signal: AbortSignal) {
  let failing: { sequence: number; attempts: number } | undefined

  const deliver = (accountId: string, thing: RemovedThing, sequence: number): void => {
    // belongs to another service, so this one cannot remove it
    if (records.isOfOthers(accountId, thing.kind, thing.id)) return
    try {
      removed.deliver(thing)
    } catch (error) {
      const attempts = failing?.sequence === sequence ? failing.attempts + 1 : 1
      failing = { sequence, attempts }
      if (attempts < maxAttempts) throw error
      log.error('failed to update references to a removed resource', { ...thing, error })
    }
    state.recent.delete(thing.id)
    records.remove(accountId, thing.kind, thing.id)
  }

  return async (): Promise<boolean> => {
    for (let pages = 0; pages < maxPages; pages += 1) {
      const { account } = state
      const after = account === undefined ? 0 : records.getProcessedSequence(account)
      const page = await client.call(listRemovedThings, { after, limit: pageSize }, { signal }).catch(ignoreMissing)
      signal.throwIfAborted()
      if (!page) return false
      if (page.account_id !== account) {
        state.account = page.account_id // restart from this account's last entry
        records.adopt(page.account_id)
        continue
      }
      if (page.last_sequence < after) {
        records.acknowledge(account, 0) // the service's database was restored from a backup
        continue
      }
      for (const { sequence, kind, id, name } of page.things) {
        if (isRemovedKind(kind)) deliver(account, { kind, id, name }, sequence)
        records.acknowledge(account, sequence)
      }
      if (!page.has_more) return true
    }
    throw new Error(`The outbox of the service has more than ${maxPages} pages.`)
  }
}

/** Delivers things that no longer exist. Kinds that cannot be listed are skipped. */
async function compareResources(
  { client, records, removed, log }: Options,
  { accountId, recent, signal }: { accountId: string; recent: ReadonlyMap<string, string>; signal: AbortSignal },
): Promise<void> {
  for (const kind of removedKinds) {
    const existing = await listExisting(client, kind, signal).catch((error: unknown) => {
      if (signal.aborted) throw error
      log.info('failed to list resources of the service', { kind, error })
      return undefined
    })
    signal.throwIfAborted()
    if (!existing) continue
    const referenced = records.list(accountId, kind)
    const missing = [...referenced].filter(
      // things of another service cannot be removed by this one
      ([id]) => !existing.has(id) && !records.isOfOthers(accountId, kind, id),
    )
    const unknown = [...removed.listReferred(kind)].filter((id) => !existing.has(id) && !records.exists(kind, id))
    for (const [id, name] of [...missing, ...unknown.map((id) => [id, id.slice(0, 8)] as const)]) {
      removed.deliver({ kind, id, name })
    }
    records.replace(accountId, kind, existing)
  }
  for (const [id, name] of recent) records.add(accountId, 'sandbox', { id, name })
}

/** Returns names by id. */
async function listExisting(
  client: Options['client'],
  kind: RemovedKind,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  if (kind === 'key') {
    const { api_keys: keys } = await client.call(listApiKeys, {}, { signal })
    return new Map(keys.map(({ id, name }) => [id, name]))
  }
  if (kind === 'domain') {
    const { domains } = await client.call(listDomains, {}, { signal })
    return new Map(domains.filter((it) => it.left_at === null).map(({ domain }) => [domain, domain]))
  }
  const [{ sandboxes }, foundSandboxes] = [
    await client.call(listSandboxes, {}, { signal }),
    await client.call(listFoundSandboxes, {}, { signal }),
  ]
  return new Map([
    ...foundSandboxes.sandboxes.map(({ id, name, short_id: shortId }) => [id, name ?? shortId] as const),
    ...sandboxes.map(({ id, name }) => [id, name] as const),
  ])
}

/** Earlier versions of the service do not have this path. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof AppError && error.status === 404) return undefined
  throw error
}

function isRemovedKind(kind: string): kind is RemovedKind {
  return removedKinds.some((removedKind) => removedKind === kind)
}
