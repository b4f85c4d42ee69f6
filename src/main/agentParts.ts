import { join } from 'node:path'
import type { Note } from './agent/activity/note.ts'
import type { LocalEndpoint } from './agent/api/localEndpoint.ts'
import type { LocalEvents } from './agent/api/localEvents.ts'
import { type ServiceClient, serviceClient } from './agent/connections/serviceClient.ts'
import type { ServiceLink } from './agent/connections/serviceLink.ts'
import type { Config } from './config.ts'
import type { Log } from './platform/log.ts'
import type { Scope } from './platform/scope.ts'
import { migrate } from './storage/migrate.ts'
import { agentMigrations } from './storage/migrations/agent/agentMigrations.ts'
import { type Database, openDatabase } from './storage/openDatabase.ts'

/** What the slices of the agent are made of. Each takes of it what it needs. */
export type AgentGround = {
  dataFolder: string
  config: Config
  link: ServiceLink
  events: LocalEvents
  /** Owns what a slice opens. */
  scope: Scope
  log: Log
  now: () => number
}

export type AgentParts = {
  database: Database
  client: ServiceClient
  /** What the local API answers beside its own paths. */
  endpoints: readonly LocalEndpoint[]
}

/**
 * Makes the slices of the agent, in the order in which they need each other: activity, wallet, signer, approvals,
 * sign-in, identity. A slice knows the others by their types alone; here they meet.
 */
export function agentParts({ dataFolder, link, log, scope }: AgentGround): AgentParts {
  const database = scope.own(openDatabase(join(dataFolder, 'agent.sqlite')), (it) => it.close())
  migrate(database, agentMigrations)
  const client = scope.own(serviceClient(link.target), (it) => it.close())
  const activityLog = log.of('activity')
  const note: Note = ({ kind, summary, subject }) => activityLog.info(summary, { kind, subject })
  note({ kind: 'steward.started', actor: { kind: 'system', name: 'Steward' }, summary: 'Steward started.' })
  return { database, client, endpoints: [] }
}
