import { AsyncLocalStorage } from 'node:async_hooks'
import type { ActivityBy } from '#shared/contract/activity.ts'
import { parseRequester, type Requester, requesterHeader } from '#shared/contract/requester.ts'
import { TaskId, taskHeader } from '#shared/contract/timelineLinks.ts'
import type { AnyCall, Caller, Endpoint } from '../base/endpoint.ts'

/** Who the request is of that is being handled, for what it leaves in the log, however deep it is noted. */
export type PresentCaller = {
  /** The same endpoints; what they note names their caller. */
  bindEndpoints(endpoints: readonly Endpoint[]): Endpoint[]
  /** What the service does of its own accord, also where a request happened to begin it. */
  apart<T>(work: () => T): T
  by(): ActivityBy
  /** Time at which the present request began; undefined for the service’s own work. */
  beganAtMs(): number | undefined
  /** What the request belongs to, as far as the account's own agent says so. */
  task(): TaskId | null
}

export function createPresentCaller(now: () => number): PresentCaller {
  const present = new AsyncLocalStorage<Present | undefined>()
  return {
    bindEndpoints: (endpoints) =>
      endpoints.map(
        ({ handle, ...endpoint }): Endpoint => ({
          ...endpoint,
          handle: (input, call, settlement) => present.run(toActor(call, now()), () => handle(input, call, settlement)),
        }),
      ),
    apart: (work) => present.run(undefined, work),
    by() {
      const { caller, requester } = present.getStore() ?? {}
      if (!caller) return { kind: 'service', name: null }
      const { keyId, actingKey, managesAccount, onlySandbox, wallet } = caller
      if (requester) return { ...requester, via: 'owner' }
      if (onlySandbox !== undefined) return { kind: 'link', name: null, ...actingKey }
      if (wallet) return { kind: 'wallet', name: wallet.address }
      if (managesAccount || keyId === undefined) return { kind: 'owner', name: null }
      return { kind: 'key', name: null, ...actingKey }
    },
    beganAtMs: () => present.getStore()?.beganAtMs,
    task: () => present.getStore()?.task ?? null,
  }
}

type Present = { caller: Caller | undefined; task: TaskId | null; requester: Requester | undefined; beganAtMs: number }

function toActor({ caller, holder, headers }: AnyCall, beganAtMs: number): Present | undefined {
  const named = headers[taskHeader]
  // Where nobody needs to be known, only who names a task is looked at.
  const asker = caller ?? (named === undefined ? undefined : holder())
  if (!asker) return undefined
  const isAgent = asker.onlySandbox === undefined && (asker.managesAccount || asker.wallet !== undefined)
  return {
    caller,
    beganAtMs,
    task: (isAgent && TaskId.safeParse(named).data) || null,
    requester: isAgent ? parseRequester(headers[requesterHeader]) : undefined,
  }
}
