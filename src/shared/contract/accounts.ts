import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Label } from './wallet.ts'

const listedModels = 50
const modelsDemand = `must be a list of 1 to ${listedModels} model names`
const Models = z
  .array(z.string().trim().min(1, 'must not be empty').max(128, 'must have at most 128 characters'), modelsDemand)
  .min(1, modelsDemand)
  .max(listedModels, modelsDemand)
const limitDemand = 'must be a whole number of cents from 0 to 100000000'
const DailyLimit = z.int(limitDemand).min(0, limitDemand).max(100_000_000, limitDemand)

/** API key without its secret, which is returned only at creation. */
export const ApiKey = z.object({
  id: z.string(),
  name: z.string(),
  key_prefix: z.string(),
  created_at: IsoTime,
  last_used_at: IsoTime.nullable(),
  models: z
    .array(z.string())
    .nullable()
    .default(null)
    .describe('Models that the key can use. Null if all models are allowed.'),
  daily_limit_cents: z
    .number()
    .nullable()
    .default(null)
    .describe('Maximum amount that the key can spend and hold per UTC day, including transfers. Null if unlimited.'),
  spent_today_cents: z
    .number()
    .nullable()
    .default(null)
    .describe('Amount spent in the current UTC day, with up to four decimals. Null if the key has no limit.'),
})
export type ApiKey = z.infer<typeof ApiKey>

export const createApiKey = defineRoute({
  operation: 'apiKeyCreate',
  method: 'POST',
  path: '/v1/auth/api-keys',
  summary: 'Create an API key',
  description:
    'Returns the key only once. Ignores `Idempotency-Key`, because the stored response would contain the key. If you lose the response, revoke that key and create another one.',
  example: { name: 'build agent', models: ['gpt-5.2'], daily_limit_cents: 500 },
  tag: 'Accounts',
  auth: 'account',
  body: z.object({
    name: Label,
    models: Models.optional().describe('Models that the key can use. If absent, all models are allowed.'),
    daily_limit_cents: DailyLimit.optional().describe(
      'Maximum amount that the key can spend and hold per UTC day. If absent, there is no limit.',
    ),
  }),
  response: z.object({
    id: z.string(),
    key: z.string(),
    key_prefix: z.string(),
    name: z.string(),
    created_at: IsoTime,
    models: z.array(z.string()).nullable().default(null),
    daily_limit_cents: z.number().nullable().default(null),
  }),
  status: 201,
})

export const listApiKeys = defineRoute({
  operation: 'apiKeyList',
  method: 'GET',
  path: '/v1/auth/api-keys',
  summary: 'List your API keys',
  description:
    'Returns all keys of the account, newest first, without their secrets. `last_used_at` is updated at most once a minute.',
  tag: 'Accounts',
  response: z.object({ api_keys: z.array(ApiKey), data: z.array(ApiKey), count: z.int() }),
})

export const revokeApiKey = defineRoute({
  operation: 'apiKeyRevoke',
  method: 'DELETE',
  path: '/v1/auth/api-keys/:keyId',
  summary: 'Revoke an API key immediately',
  description:
    "Requests of the key in progress fail with 401 `auth/invalid`. Its terminal links and port tokens end too. A second call fails with 404 `key/not-found`. The key in the owner's file cannot be revoked: 403 `auth/forbidden`.",
  tag: 'Accounts',
  auth: 'account',
  params: z.object({ keyId: z.string().min(1) }),
  response: z.object({ success: z.literal(true), id: z.string(), message: z.string() }),
})
