import { hash, randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import { type ToolClient, ToolClientId, toolKeyPrefix } from '#shared/contract/toolClients.ts'
import { isoTime } from '#shared/time.ts'
import { type AgentPrincipals, requesterPrincipal } from '../base/agentPrincipals.ts'
import type { Note } from '../base/note.ts'
import type { ToolBudgets } from './toolBudgets.ts'
import type { ToolCaller } from './toolCaller.ts'
import { holderOf } from './toolCaller.ts'
import type { KeptClient, ToolClientRepository, ToolClientSettings } from './toolClientRepository.ts'
import type { ToolRights } from './toolRights.ts'

/** Programs that call tools. Of a key only its SHA-256 is kept. */
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
  /** @returns undefined for a key that is none of a client */
  callerOf(key: string): ToolCaller | undefined
}

type Options = {
  clients: ToolClientRepository
  budgets: Pick<ToolBudgets, 'spentToday'>
  note: Note
  principals: Pick<AgentPrincipals, 'end'>
  /** Called after the settings of a client changed. */
  onChanged: () => void
  now: () => number
}

const mostClients = 100
const shownCharacters = toolKeyPrefix.length + 4
const usedEveryMs = 60_000
const person = { kind: 'person', name: 'You' } as const

export function toolClients({ clients, budgets, note, principals, onChanged, now }: Options): ToolClients {
  /** By the hash of its key, who called: it stands here as it is kept, or not at all. */
  const callers = new Map<string, KeptClient>()
  const told = (client: KeptClient): ToolClient => {
    const { id, settings, keyPrefix, createdAtMs, lastUsedAtMs } = client
    return {
      id,
      ...settings,
      key_prefix: keyPrefix,
      spent_today_micro_usd: budgets.spentToday(holderOf({ asker: askerOf(client) })),
      created_at: isoTime(createdAtMs),
      last_used_at: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
    }
  }
  const known = (id: ToolClientId): KeptClient => {
    const client = clients.find(id)
    if (client) return client
    throw new AppError('tool/client-not-found', `There is no tool client ${id}.`)
  }
  const noted = (kind: string, { id, settings: { name, profile, policy, ...rest } }: KeptClient, summary: string) =>
    note({
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
    list: () => clients.list().map(told),
    create(settings) {
      if (clients.list().length >= mostClients) {
        throw new AppError('tool/too-many-clients', `There are ${mostClients} tool clients already.`)
      }
      const key = `${toolKeyPrefix}${randomBytes(32).toString('base64url')}`
      const id = ToolClientId.parse(`mcp_${randomBytes(12).toString('hex')}`)
      const client = { id, keyPrefix: key.slice(0, shownCharacters), settings, createdAtMs: now() }
      clients.add(client, hashOf(key))
      noted('tool-client.created', { ...client, lastUsedAtMs: null }, `You let ${settings.name} use tools.`)
      return { client: told(known(id)), key }
    },
    change(id, changed) {
      const before = known(id)
      const given = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined))
      callers.clear()
      clients.change(id, { ...before.settings, ...given })
      const after = known(id)
      noted('tool-client.changed', after, `You changed what ${after.settings.name} may do with tools.`)
      onChanged()
      return told(after)
    },
    revoke(id) {
      const client = known(id)
      callers.clear()
      clients.remove(id)
      noted('tool-client.revoked', client, `You revoked the tool client ${client.settings.name}.`)
      principals.end(requesterPrincipal(askerOf(client)))
    },
    callerOf(key) {
      if (!key.startsWith(toolKeyPrefix)) return undefined
      const digest = hash('sha256', key)
      const client = callers.get(digest) ?? clients.byKey(Buffer.from(digest, 'hex'))
      if (!client) return undefined
      const nowMs = now()
      if (nowMs - (client.lastUsedAtMs ?? 0) <= usedEveryMs) callers.set(digest, client)
      else {
        callers.delete(digest)
        clients.used(client.id, nowMs)
      }
      return { asker: askerOf(client) }
    },
  }
}

/** Returns the rights that a client's settings give it now. */
export function clientRights({ settings }: KeptClient): ToolRights {
  const { profile, policy, daily_budget_micro_usd: dailyBudgetMicroUsd, dry_run: dryRun } = settings
  return { profile, policy, dailyBudgetMicroUsd, dryRun, servers: [] }
}

function askerOf({ id, settings }: KeptClient): ToolCaller['asker'] {
  return { kind: 'tool', id, name: settings.name }
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
