import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Label } from './wallet.ts'

export const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  key_prefix: z.string(),
  created_at: IsoTime,
  last_used_at: IsoTime.nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>

export const createApiKey = defineRoute({
  operation: 'apiKeyCreate',
  method: 'POST',
  path: '/v1/auth/api-keys',
  summary: 'Create an API key; it is shown once',
  description:
    '`Idempotency-Key` is not honoured: the stored answer would hold the key. Whoever lost the answer revokes that key and creates another.',
  tag: 'Accounts',
  auth: 'account',
  body: z.object({ name: Label }),
  response: z.object({
    id: z.string(),
    key: z.string(),
    key_prefix: z.string(),
    name: z.string(),
    created_at: IsoTime,
  }),
  status: 201,
})

export const listApiKeys = defineRoute({
  operation: 'apiKeyList',
  method: 'GET',
  path: '/v1/auth/api-keys',
  summary: 'List your API keys',
  tag: 'Accounts',
  response: z.object({ api_keys: z.array(ApiKey), data: z.array(ApiKey), count: z.int() }),
})

export const revokeApiKey = defineRoute({
  operation: 'apiKeyRevoke',
  method: 'DELETE',
  path: '/v1/auth/api-keys/:keyId',
  summary: 'Revoke an API key at once',
  tag: 'Accounts',
  auth: 'account',
  params: z.object({ keyId: z.string().min(1) }),
  response: z.object({ success: z.literal(true), id: z.string(), message: z.string() }),
})
