import { createApiKey, listApiKeys, revokeApiKey } from '../../../shared/contract/accounts.ts'
import { isoTime } from '../../../shared/time.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'
import type { ApiKeyRecord } from './accountRepository.ts'
import type { ApiKeys } from './apiKeys.ts'

export function accountRoutes(keys: ApiKeys): Endpoint[] {
  return [
    endpoint(createApiKey, ({ body }, { caller }) => {
      const made = keys.create(caller.accountId, body.name)
      const { id, key, prefix, name } = made
      return { id, key, key_prefix: prefix, name, created_at: isoTime(made.createdAtMs) }
    }),
    endpoint(listApiKeys, (_, { caller }) => {
      const listed = keys.list(caller.accountId).map(toWire)
      return { api_keys: listed, data: listed, count: listed.length }
    }),
    endpoint(revokeApiKey, ({ params }, { caller }) => {
      keys.revoke(caller.accountId, params.keyId)
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
