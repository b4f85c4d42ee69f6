import { hash, randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import { type ToolClient, ToolClientId, toolKeyPrefix } from '#shared/contract/toolClients.ts'
import { toIsoTime } from '#shared/time.ts'
import { person } from '../base/actors.ts'
import { type AgentPrincipals, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ToolCaller } from '../base/toolCaller.ts'
import { toRequesterKey } from '../base/toolCaller.ts'
import type { ToolRights } from '../base/toolRights.ts'
import type { ToolBudgets } from './toolBudgets.ts'
import type { StoredClient, ToolClientRepository, ToolClientSettings } from './toolClientRepository.ts'

/** Programs that call tools. Only the SHA-256 hash of a key is stored. */
export type ToolClients = {
  list(): ToolClient[]
  /** @throws AppError `tool/too-many-clients` */
  create(settings: ToolClientSettings): { client: ToolClient; key: string }
  /** @throws AppError `tool/client-not-found` */
  change(
    id: ToolClientId,
    settings: { [K in keyof ToolClientSettings]?: ToolClientSettings[K] | undefined },
  ): ToolClient
  /** @throws AppError `tool/client-not-found` */
  revoke(id: ToolClientId): void
  /** @returns undefined if the key belongs to no client */
  findCaller(key: string): ToolCaller | undefined
}

type Options = {
  clients: ToolClientRepository
  budgets: Pick<ToolBudgets, 'sumSpentToday'>
  recordActivity: RecordActivity
  principals: Pick<AgentPrincipals, 'end'>
  /** Called after the settings of a client changed. */
  onChanged: () => void
  now: () => number
}

const maxClients = 100
const visibleCharacters = toolKeyPrefix.length + 4
const usedEveryMs = 60_000

export function createToolClients({
  clients,
  budgets,
  recordActivity,
  principals,
  onChanged,
  now,
}: Options): ToolClients {
  /** Callers by the hash of their key, in sync with the database. */
  const callers = new Map<string, StoredClient>()
  const toWire = (client: StoredClient): ToolClient => {
    const { id, settings, keyPrefix, createdAtMs, lastUsedAtMs } = client
    return {
      id,
      ...settings,
      key_prefix: keyPrefix,
      spent_today_micro_usd: budgets.sumSpentToday(toRequesterKey({ requester: toRequester(client) })),
      created_at: toIsoTime(createdAtMs),
      last_used_at: lastUsedAtMs === null ? null : toIsoTime(lastUsedAtMs),
    }
  }
  const requireClient = (id: ToolClientId): StoredClient => {
    const client = clients.find(id)
    if (client) return client
    throw new AppError('tool/client-not-found', `There is no tool client ${id}.`)
  }
  const record = (kind: string, { id, settings: { name, profile, policy, ...rest } }: StoredClient, summary: string) =>
    recordActivity({
      kind,
      actor: person,
      subject: id,
      summary,
      detail: {
        ...{ client: id, name, profile, changes: policy.changes, destroys: policy.destroys, dry_run: rest.dry_run },
        daily_budget_micro_usd: rest.daily_budget_micro_usd,
      },
    })

  return {
    list: () => clients.list().map(toWire),
    create(settings) {
      if (clients.list().length >= maxClients) {
        throw new AppError('tool/too-many-clients', `There are ${maxClients} tool clients already.`)
      }
      const key = `${toolKeyPrefix}${randomBytes(32).toString('base64url')}`
      const id = ToolClientId.parse(`mcp_${randomBytes(12).toString('hex')}`)
      const client = { id, keyPrefix: key.slice(0, visibleCharacters), settings, createdAtMs: now() }
      clients.add(client, hashKey(key))
      record('tool-client.created', { ...client, lastUsedAtMs: null }, `You created the tool client ${settings.name}.`)
      return { client: toWire(requireClient(id)), key }
    },
    change(id, changed) {
      const before = requireClient(id)
      const defined = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined))
      callers.clear()
      clients.change(id, { ...before.settings, ...defined })
      const after = requireClient(id)
      record('tool-client.changed', after, `You changed the permissions of the tool client ${after.settings.name}.`)
      onChanged()
      return toWire(after)
    },
    revoke(id) {
      const client = requireClient(id)
      callers.clear()
      clients.remove(id)
      record('tool-client.revoked', client, `You revoked the tool client ${client.settings.name}.`)
      principals.end(toRequesterPrincipal(toRequester(client)))
    },
    findCaller(key) {
      if (!key.startsWith(toolKeyPrefix)) return undefined
      const digest = hash('sha256', key)
      const client = callers.get(digest) ?? clients.byKey(Buffer.from(digest, 'hex'))
      if (!client) return undefined
      const nowMs = now()
      if (nowMs - (client.lastUsedAtMs ?? 0) <= usedEveryMs) callers.set(digest, client)
      else {
        callers.delete(digest)
        clients.recordUse(client.id, nowMs)
      }
      return { requester: toRequester(client) }
    },
  }
}

/** Returns the current rights from a client's settings. */
export function toClientRights({ settings }: StoredClient): ToolRights {
  const { profile, policy, daily_budget_micro_usd: dailyBudgetMicroUsd, dry_run: dryRun } = settings
  return { profile, policy, dailyBudgetMicroUsd, dryRun, servers: [] }
}

function toRequester({ id, settings }: StoredClient): ToolCaller['requester'] {
  return { kind: 'tool', id, name: settings.name }
}

function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
