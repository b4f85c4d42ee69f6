import { createApiKey, listApiKeys, revokeApiKey } from '../../../shared/contract/accounts.ts'
import { isoTime } from '../../../shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'
import type { ApiKeyRecord } from './accountRepository.ts'
import type { ApiKeys } from './apiKeys.ts'

export function accountRoutes({
  keys,
  noteAccount,
  onRevoked,
}: {
  keys: ApiKeys
  noteAccount: ActivityLog['noteAccount']
  onRevoked: () => void
}): Endpoint[] {
  return [
    endpoint(createApiKey, ({ body }, { caller }) => {
      const made = keys.create(caller.accountId, body.name)
      const { id, key, prefix, name } = made
      noteAccount(caller.accountId, {
        type: 'key.created',
        description: `Created the API key “${name}” (${prefix}…).`,
      })
      return { id, key, key_prefix: prefix, name, created_at: isoTime(made.createdAtMs) }
    }),
    endpoint(listApiKeys, (_, { caller }) => {
      const listed = keys.list(caller.accountId).map(toWire)
      return { api_keys: listed, data: listed, count: listed.length }
    }),
    endpoint(revokeApiKey, ({ params }, { caller }) => {
      const { name, prefix } = keys.revoke(caller.accountId, params.keyId)
      onRevoked()
      noteAccount(caller.accountId, {
        type: 'key.revoked',
        description: `Revoked the API key “${name}” (${prefix}…).`,
      })
      return { success: true, id: params.keyId, message: 'The API key is revoked.' }
    }),
  ]
}

function toWire(key: ApiKeyRecord) {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.prefix,
    created_at: isoTime(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === null ? null : isoTime(key.lastUsedAtMs),
  }
}
