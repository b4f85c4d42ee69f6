import { listAccountActivity, listActivity, listCommands } from '#shared/contract/activity.ts'
import type { SandboxId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import { type Caller, createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { ActivityLog } from './activityLog.ts'

export function createActivityRoutes({
  sandboxes,
  activity,
}: {
  /** @throws AppError `sandbox/not-found` */
  sandboxes: { requireOwned(caller: Caller, id: SandboxId): Promise<{ id: SandboxId }> }
  activity: Pick<ActivityLog, 'activities' | 'commands' | 'ofAccount'>
}): Endpoint[] {
  return [
    createEndpoint(listCommands, async ({ params, query }, { caller }) => {
      const { id } = await sandboxes.requireOwned(caller, params.id)
      const listed = await activity.commands(id, query.limit)
      const commands = listed.map(({ command, exitCode, durationMs, atMs }) => ({
        command,
        exit_code: exitCode,
        duration_ms: durationMs,
        at: toIsoTime(atMs),
      }))
      return { commands }
    }),
    createEndpoint(listActivity, async ({ params, query }, { caller }) => {
      const { id } = await sandboxes.requireOwned(caller, params.id)
      const listed = await activity.activities(id, query.limit)
      const activities = listed.map(({ atMs, ...fields }) => ({ ...fields, at: toIsoTime(atMs) }))
      return { activities }
    }),
    createEndpoint(listAccountActivity, async ({ query: { after, limit } }, { caller }) => {
      const page = await activity.ofAccount(caller.accountId, after, limit + 1)
      const activities = page
        .slice(0, limit)
        .map(({ sandboxId, sandboxName, terminalId, chargedMicroUsd, atMs, ...listed }) => ({
          ...listed,
          sandbox_id: sandboxId,
          sandbox_name: sandboxName,
          terminal_id: terminalId,
          charged_micro_usd: chargedMicroUsd,
          at: toIsoTime(atMs),
        }))
      return { account_id: caller.accountId, activities, has_more: page.length > limit }
    }),
  ]
}
