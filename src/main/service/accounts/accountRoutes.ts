import { createApiKey, listApiKeys, revokeApiKey } from '#shared/contract/accounts.ts'
import { centsToMicroUsd, toExactCents } from '#shared/microUsd.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Caller, createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { ApiKeyRecord } from './accountRepository.ts'
import type { ApiKeyRules, ApiKeys } from './apiKeys.ts'

export function createAccountRoutes({
  keys,
  sumSpentToday,
  recordForAccount,
  principals,
  getIssuer,
}: {
  keys: ApiKeys
  /** Micro-dollars that a key with a daily limit spent today. */
  sumSpentToday: (keyId: string) => Promise<number>
  recordForAccount: ActivityLog['recordForAccount']
  principals: Pick<ServicePrincipals, 'end' | 'assertPresent'>
  /** Sign-in of a caller. Null for other principals, whose keys end only by revocation. */
  getIssuer: (caller: Caller) => ApiKeyRecord['issuer']
}): Endpoint[] {
  return [
    createEndpoint(createApiKey, async ({ body }, { caller }) => {
      const { models = null, daily_limit_cents: limit } = body
      const dailyLimit = limit === undefined ? null : centsToMicroUsd(limit)
      const created = await keys.create(caller.accountId, body.name, {
        ...{ models, dailyLimit, issuer: getIssuer(caller) },
        assertAllowed: (tx) => principals.assertPresent(tx, caller.principal),
      })
      const { id, key, prefix, name } = created
      recordForAccount(caller.accountId, {
        type: 'key.created',
        description: `Created the API key “${name}” (${prefix}…).`,
      })
      return { id, key, key_prefix: prefix, name, created_at: toIsoTime(created.createdAtMs), ...rulesToWire(created) }
    }),
    createEndpoint(listApiKeys, async (_, { caller }) => {
      const listed = await Promise.all((await keys.list(caller.accountId)).map((key) => toWire(key, sumSpentToday)))
      return { api_keys: listed, data: listed, count: listed.length }
    }),
    createEndpoint(revokeApiKey, async ({ params }, { caller }) => {
      const { name, prefix } = await keys.revoke(caller.accountId, params.keyId)
      recordForAccount(caller.accountId, {
        type: 'key.revoked',
        description: `Revoked the API key “${name}” (${prefix}…).`,
      })
      await principals.end(`key:${params.keyId}`)
      return { success: true, id: params.keyId, message: 'API key revoked.' }
    }),
  ]
}

async function toWire(key: ApiKeyRecord, sumSpentToday: (keyId: string) => Promise<number>) {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.prefix,
    created_at: toIsoTime(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : toIsoTime(key.lastUsedAtMs),
    ...rulesToWire(key),
    spent_today_cents: key.dailyLimit === null ? null : toExactCents(await sumSpentToday(key.id)),
  }
}

function rulesToWire({ models, dailyLimit }: ApiKeyRules) {
  return {
    models: models === null ? null : [...models],
    daily_limit_cents: dailyLimit === null ? null : toExactCents(dailyLimit),
  }
}
