import type { ActivityType } from '#shared/contract/activity.ts'

export const activityFilters = ['all', 'sandbox', 'terminal', 'command', 'file', 'snapshot', 'domain'] as const
export type ActivityFilter = (typeof activityFilters)[number]

export const filterLabels: Record<ActivityFilter, string> = {
  all: 'All',
  sandbox: 'Sandbox',
  terminal: 'Terminals',
  command: 'Commands',
  file: 'Files',
  snapshot: 'Snapshots',
  domain: 'Domains',
}

/** Whether an activity type matches the filter. Types start with their subject. */
export function matchesFilter(filter: ActivityFilter, type: ActivityType): boolean {
  return filter === 'all' || type.startsWith(`${filter}.`)
}
