import { z } from 'zod'
import type { Input } from '#shared/contract/route.ts'
import type { listTimeline, TimelineEntry } from '#shared/contract/timeline.ts'
import { toIsoTime } from '#shared/time.ts'

export const areas = [
  'all',
  'chat',
  'tools',
  'approvals',
  'payments',
  'wallet',
  'credits',
  'domains',
  'identity',
  'sandboxes',
  'access',
  'system',
] as const
export type Area = (typeof areas)[number]

export const areaLabels: Record<Area, string> = {
  all: 'All',
  chat: 'Chat',
  tools: 'Tools',
  approvals: 'Approvals',
  payments: 'Payments',
  wallet: 'Wallet',
  credits: 'Credits',
  domains: 'Domains',
  identity: 'Identity',
  sandboxes: 'Sandboxes',
  access: 'Keys and sign-in',
  system: 'System',
}

/** Entry kinds of each area, identified by their first segment. */
const entryKindsByArea: Record<Exclude<Area, 'all'>, readonly string[]> = {
  chat: ['chat', 'models'],
  tools: ['tool'],
  approvals: ['intent', 'grant', 'policy', 'stop'],
  payments: ['payment'],
  wallet: ['wallet', 'keyring'],
  credits: ['credits'],
  domains: ['name', 'dns', 'renewal'],
  identity: ['identity', 'registration', 'automaton'],
  sandboxes: ['sandbox', 'terminal', 'command', 'file', 'snapshot', 'domain'],
  access: ['key', 'provider', 'auth', 'account', 'client', 'tool-client', 'tool-server'],
  system: ['system', 'service', 'log'],
}

export type ActorKind = TimelineEntry['actor']['kind']
export const actorLabels: Record<ActorKind | 'anyone', string> = {
  anyone: 'Anyone',
  person: 'You',
  client: 'Programs',
  tool: 'Agents and chats',
  agent: 'Auto-renew and sign-in',
  service: 'Services',
  system: 'Steward',
}

export const periods = ['any', 'today', 'week', 'month', 'between'] as const
export type Period = (typeof periods)[number]
export const periodLabels: Record<Period, string> = {
  any: 'Any time',
  today: 'Today',
  week: 'Last 7 days',
  month: 'Last 30 days',
  between: 'Custom dates',
}

export const TimelineFilters = z.object({
  search: z.string(),
  area: z.enum(areas),
  actor: z.enum(['anyone', 'person', 'client', 'tool', 'agent', 'service', 'system']),
  period: z.enum(periods),
  /** Local days such as `2026-01-31`, used for `between`. Empty means unbounded. */
  from: z.string(),
  to: z.string(),
})
export type TimelineFilters = z.infer<typeof TimelineFilters>

export const noFilters: TimelineFilters = { search: '', area: 'all', actor: 'anyone', period: 'any', from: '', to: '' }

export type TimelineQuery = Omit<Input<typeof listTimeline>, 'before' | 'limit'>

/** Builds the query of the log. Days start at local midnight. */
export function toTimelineQuery({ search, area, actor, ...times }: TimelineFilters, now: Date): TimelineQuery {
  const { from, to } = resolvePeriod(times, now)
  return {
    ...(search.trim() !== '' && { search: search.trim() }),
    ...(area !== 'all' && { kinds: entryKindsByArea[area].join(',') }),
    ...(actor !== 'anyone' && { actor }),
    ...(from !== undefined && { from: toIsoTime(from.getTime()) }),
    ...(to !== undefined && { to: toIsoTime(to.getTime()) }),
  }
}

export function isFiltered(query: TimelineQuery): boolean {
  return Object.keys(query).length > 0
}

export function findArea(kind: string): Exclude<Area, 'all'> | undefined {
  const [first = ''] = kind.split('.')
  return areas.find((area): area is Exclude<Area, 'all'> => area !== 'all' && entryKindsByArea[area].includes(first))
}

type Times = Pick<TimelineFilters, 'period' | 'from' | 'to'>
const daysBack = { today: 0, week: 6, month: 29 } as const

function resolvePeriod({ period, from, to }: Times, now: Date): { from?: Date | undefined; to?: Date | undefined } {
  if (period === 'any') return {}
  if (period !== 'between')
    return { from: new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBack[period]) }
  return { from: toMidnight(from, 0), to: toMidnight(to, 1) }
}

function toMidnight(day: string, daysLater: number): Date | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  return year === undefined ? undefined : new Date(Number(year), Number(month) - 1, Number(date) + daysLater)
}
