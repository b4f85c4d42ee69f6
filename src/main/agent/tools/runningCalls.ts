import { AppError } from '#shared/appError.ts'
import { type AgentPrincipals, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import { requireCallRights, type ToolRights } from '../base/toolRights.ts'

/** Running call with the lease of its caller. */
export type RunningCall = {
  /** Aborts with an AppError when the caller's access ends, or when everything is stopped and the call changes something. */
  signal: AbortSignal
  /** Returns the current rights of the caller. @throws AppError `tool/revoked`, `tool/denied`, `tool/profile` */
  rights: () => ToolRights
  /** Marks the call as changing, so that `stopAll` ends it. */
  markChanging(): void
  release(): void
}

/** Running calls. Each ends with the lease of its caller. */
export type RunningCalls = {
  begin(caller: ToolCaller): RunningCall
  /** Ends all changing calls. */
  stopAll(): void
}

export function createRunningCalls(principals: Pick<AgentPrincipals, 'lease'>): RunningCalls {
  const changing = new Set<AbortController>()
  return {
    begin(caller) {
      const ending = new AbortController()
      const lease = principals.lease(toRequesterPrincipal(caller.requester), 'tool-call', {
        onEnd: (error) => ending.abort(error),
      })
      if (lease.error) ending.abort(lease.error)
      return {
        signal: ending.signal,
        rights: () => requireCallRights(lease.may().tools, caller),
        markChanging: () => void changing.add(ending),
        release() {
          changing.delete(ending)
          lease.release()
        },
      }
    },
    stopAll() {
      for (const ending of changing) ending.abort(new AppError('intent/stopped', 'Everything is stopped.'))
    },
  }
}
