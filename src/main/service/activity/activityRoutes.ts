import { listAccountActivity, listActivity, listCommands } from '#shared/contract/activity.ts'
import { isoTime } from '#shared/time.ts'
import { type Endpoint, endpoint } from '../base/endpoint.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { ActivityLog } from './activityLog.ts'

export function activityRoutes({
  sandboxes,
  activity,
}: {
  sandboxes: Pick<SandboxRegistry, 'owned'>
  activity: Pick<ActivityLog, 'activities' | 'commands' | 'ofAccount'>
}): Endpoint[] {
  return [
    endpoint(listCommands, ({ params, query }, { caller }) => {
      const { id } = sandboxes.owned(caller, params.id)
      const commands = activity.commands(id, query.limit).map(({ command, exitCode, durationMs, atMs }) => ({
        command,
        exit_code: exitCode,
        duration_ms: durationMs,
        at: isoTime(atMs),
      }))
      return { commands }
    }),
    endpoint(listActivity, ({ params, query }, { caller }) => {
      const { id } = sandboxes.owned(caller, params.id)
      const activities = activity
        .activities(id, query.limit)
        .map(({ atMs, ...listed }) => ({ ...listed, at: isoTime(atMs) }))
      return { activities }
    }),
    endpoint(listAccountActivity, ({ query: { after, limit } }, { caller }) => {
      const found = activity.ofAccount(caller.accountId, after, limit + 1)
      const activities = found
        .slice(0, limit)
        .map(({ sandboxId, sandboxName, terminalId, chargedMicroUsd, atMs, ...listed }) => ({
          ...listed,
          sandbox_id: sandboxId,
          sandbox_name: sandboxName,
          terminal_id: terminalId,
          charged_micro_usd: chargedMicroUsd,
          at: isoTime(atMs),
        }))
      return { account_id: caller.accountId, activities, has_more: found.length > limit }
    }),
  ]
}
