import { getStatusLabel } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'

/** Describes why no program runs in a sandbox. */
export function describeState({ status, status_reason, name }: Sandbox): string {
  if (status === 'provisioning') return `${name} is starting.`
  if (status === 'running') return `${name} is running.`
  if (status === 'error') return status_reason ?? `${name} failed for an unknown reason.`
  if (status === 'stopped') return status_reason ?? `${name} is stopped. Its files are kept.`
  return status_reason ?? `${name}: ${getStatusLabel(status)}.`
}
