import { AsyncLocalStorage } from 'node:async_hooks'
import type { ActivityBy } from '#shared/contract/activity.ts'
import { type Originator, originatorHeader, parseOriginator } from '#shared/contract/originator.ts'
import { TaskId, taskHeader } from '#shared/contract/timelineLinks.ts'
import type { AnyCall, Caller, Endpoint } from '../base/endpoint.ts'

/** Caller of the current request, available to log entries at any depth below it. */
export type PresentCaller = {
  /** Wraps endpoints so that their log entries name the caller. */
  bindEndpoints(endpoints: readonly Endpoint[]): Endpoint[]
  /** Runs work of the service without a caller, even within a request. */
  apart<T>(work: () => T): T
  by(): ActivityBy
  /** @returns the time at which the current request started, or undefined for the service's internal work */
  beganAtMs(): number | undefined
  /** Task of the request, if the account's local agent named one. */
  task(): TaskId | null
}

export function createPresentCaller(now: () => number): PresentCaller {
  const present = new AsyncLocalStorage<Present | undefined>()
  return {
    bindEndpoints: (endpoints) =>
      endpoints.map(
        ({ handle, ...endpoint }): Endpoint => ({
          ...endpoint,
          handle(input, call, settlement) {
            const run = (actor: Present | undefined) => present.run(actor, () => handle(input, call, settlement))
            const beganAtMs = now()
            const { caller, headers } = call
            if (caller || headers[taskHeader] === undefined) return run(toActor(caller, call, beganAtMs))
            // On public endpoints, the caller is identified only if the request names a task.
            return call.holder().then((holder) => run(toActor(holder, call, beganAtMs)))
          },
        }),
      ),
    apart: (work) => present.run(undefined, work),
    by() {
      const { caller, originator } = present.getStore() ?? {}
      if (!caller) return { kind: 'service', name: null }
      const { keyId, actingKey, managesAccount, onlySandbox, wallet } = caller
      if (originator) return { ...originator, via: 'owner' }
      if (onlySandbox !== undefined) return { kind: 'link', name: null, ...actingKey }
      if (wallet) return { kind: 'wallet', name: wallet.address }
      if (managesAccount || keyId === undefined) return { kind: 'owner', name: null }
      return { kind: 'key', name: null, ...actingKey }
    },
    beganAtMs: () => present.getStore()?.beganAtMs,
    task: () => present.getStore()?.task ?? null,
  }
}

type Present = {
  caller: Caller | undefined
  task: TaskId | null
  originator: Originator | undefined
  beganAtMs: number
}

function toActor(requester: Caller | undefined, { caller, headers }: AnyCall, beganAtMs: number): Present | undefined {
  if (!requester) return undefined
  const isAgent = requester.onlySandbox === undefined && (requester.managesAccount || requester.wallet !== undefined)
  return {
    caller,
    beganAtMs,
    task: (isAgent && TaskId.safeParse(headers[taskHeader]).data) || null,
    originator: isAgent ? parseOriginator(headers[originatorHeader]) : undefined,
  }
}
