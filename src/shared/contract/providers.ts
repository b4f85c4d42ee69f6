import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { FamilyId } from './families.ts'
import { defineRoute } from './route.ts'

/**
 * Keys of model providers, and the user's model servers. The local agent stores them and passes them to the service
 * that it runs. Request and response bodies never contain a key: the user enters it in a secure prompt (`provider_key`,
 * `server_key`).
 */
/** Keys are printable ASCII without spaces. */
export const providerKeyLimits = { minCharacters: 8, maxCharacters: 512 } as const

/** Storage of a provider's key. */
export const KeyLocation = z.enum([
  'keychain',
  /** Encrypted, with the encryption key stored next to it. */
  'file',
  /** Plain text in the configuration. */
  'config',
])
export type KeyLocation = z.infer<typeof KeyLocation>

/** Stored key, without the secret. */
export const StoredKey = z.object({
  place: KeyLocation,
  /** Last four characters of the key. Null if the key is too short or from the configuration. */
  ends_with: z.string().nullable(),
  set_at: IsoTime.nullable(),
  /** Reason why the key cannot be read, as a sentence. Its provider has no key until it is readable. */
  fault: z.string().nullable(),
})
export type StoredKey = z.infer<typeof StoredKey>

/** Model provider with the state of its key. */
export const Provider = z.object({
  family: FamilyId,
  name: z.string(),
  configured: KeyLocation.nullable(),
  key: StoredKey.nullable(),
  /** Time at which the provider last refused this key in a chat; null if it has not since the key was set. */
  key_refused_at: IsoTime.nullable(),
  /** Base URL from the configuration. Null: the default of the provider. */
  base_url: z.string().nullable(),
})
export type Provider = z.infer<typeof Provider>

const managed_by = z
  .enum(['you', 'operator'])
  .describe('Manager of the provider keys. `operator` if the service runs elsewhere and its operator sets the keys.')
const KeyStorage = z.object({
  kind: z.enum(['keychain', 'file']),
  name: z.string(),
  detail: z.string().describe('Description of the protection that the storage provides, in one or two sentences.'),
})

const Providers = z.object({ managed_by, storage: KeyStorage, providers: z.array(Provider) })
export type Providers = z.infer<typeof Providers>

export const listProviders = defineRoute({
  operation: 'providerList',
  method: 'GET',
  path: '/local/providers',
  summary: 'List model providers and the state of their keys',
  description:
    'Returns only the last four characters of each key. The list is empty if the service runs elsewhere (`managed_by` is `operator`).',
  tag: 'Providers',
  auth: 'person',
  response: Providers,
})

export const removeProviderKey = defineRoute({
  operation: 'providerKeyRemove',
  method: 'DELETE',
  path: '/local/providers/:family/key',
  summary: 'Remove the stored key of a provider',
  description:
    'A key in the configuration takes effect again. Fails with 404 `provider-key/not-found`, 409 `provider-key/remote-service` if the service runs elsewhere, or 423 `wallet/keychain-locked`.',
  tag: 'Providers',
  auth: 'person',
  refusals: [404, 409, 423, 503],
  params: z.object({ family: FamilyId }),
  response: Providers,
})

export const readProviderKeysAgain = defineRoute({
  operation: 'providerKeysRead',
  method: 'POST',
  path: '/local/providers/refresh',
  summary: 'Retry reading the stored provider keys',
  description:
    'Call this after unlocking the keychain. Reads only the keys that could not be read before. Succeeds even if some keys remain unreadable; these have a `fault` in the response.',
  tag: 'Providers',
  auth: 'person',
  response: Providers,
})

/** Result of a test of a provider key. */
export const KeyTest = z.object({
  outcome: z.enum(['accepted', 'refused', 'unreachable', 'unclear']),
  /** Result as a sentence, without text of the provider. */
  detail: z.string(),
})
export type KeyTest = z.infer<typeof KeyTest>

/** Tests the key and URL that the service uses for completions. */
export const testProvider = defineRoute({
  operation: 'providerTest',
  method: 'POST',
  path: '/v1/providers/:family/test',
  summary: 'Test the key of a provider',
  description:
    'Requests the list of models from the provider, which is free of charge. Waits up to 15 seconds. A refused key returns 200 with the `outcome` `refused`. Fails with 503 `inference/unconfigured` if the provider has no key.',
  tag: 'Providers',
  auth: 'person',
  refusals: [503],
  params: z.object({ family: FamilyId }),
  response: KeyTest,
})

/** Id of a model server: `mds_` and 24 hexadecimal digits. */
export const ModelServerId = z
  .string()
  .regex(/^mds_[0-9a-f]{24}$/, 'must be an id that begins with mds_')
  .register(unknownIds, { code: 'model-server/not-found', message: (id) => `There is no model server ${id}.` })
  .brand<'ModelServerId'>()
export type ModelServerId = z.infer<typeof ModelServerId>

/** Same format as in `inference.local` of the configuration. */
export const ModelServerName = z
  .string()
  .trim()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and hyphens, at most 32')

/** Model names supported by GET /v1/models. */
export const servedModelName = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/
/** Maximum number of models of one server. */
export const maxServedModels = 200

const serverUrlDemand = 'must be an http:// or https:// address, as in http://127.0.0.1:8000/v1'
/** URL without credentials, query and fragment. A trailing slash is removed. */
export const ModelServerUrl = z
  .string(serverUrlDemand)
  .trim()
  .max(500, 'must have at most 500 characters')
  .regex(/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#@\\]*)?$/i, serverUrlDemand)
  .pipe(z.url({ protocol: /^https?$/, error: serverUrlDemand }))
  .transform((url) => url.replace(/\/+$/, ''))

const PricePerMillion = z
  .number('must be an amount in US dollars')
  .min(0, 'must not be below 0')
  .max(100_000, 'must be at most 100000')
  .refine(
    (value) => Number.isInteger(Number((value * 1_000_000).toFixed(6))),
    'must have at most six digits after the point',
  )

/** US dollars per million tokens. */
export const ModelPrice = z.object({ input_per_million: PricePerMillion, output_per_million: PricePerMillion })
export type ModelPrice = z.infer<typeof ModelPrice>

/** Custom model server, compatible with the OpenAI API. */
export const ModelServer = z.object({
  id: ModelServerId,
  name: z.string(),
  base_url: z.string(),
  models: z.array(z.string()),
  free: z.boolean().describe('Whether the models of the server are free of charge.'),
  price: ModelPrice.nullable().describe('Price of models for which the server lists no price. Null if unknown.'),
  listed_prices: z.record(z.string(), ModelPrice).describe('Prices that the server lists, by model.'),
  key: StoredKey.nullable(),
  /** Whether the server lists its models only with a key. */
  needs_key: z.boolean(),
  read_at: IsoTime,
})
export type ModelServer = z.infer<typeof ModelServer>

/** Model server detected on this computer. */
export const DiscoveredServer = z.object({
  name: z.string(),
  title: z.string(),
  base_url: z.string(),
  models: z.array(z.string()),
  /** Whether the server is already configured. */
  added: z.boolean(),
})
export type DiscoveredServer = z.infer<typeof DiscoveredServer>

const ModelServers = z.object({ managed_by, servers: z.array(ModelServer) })
export type ModelServers = z.infer<typeof ModelServers>
const named = z.object({ serverId: ModelServerId })

export const listModelServers = defineRoute({
  operation: 'modelServerList',
  method: 'GET',
  path: '/local/model-servers',
  summary: 'List your own model servers',
  description:
    'Excludes servers from the configuration. The list is empty if the service runs elsewhere (`managed_by` is `operator`).',
  tag: 'Providers',
  auth: 'person',
  response: ModelServers,
})

export const findModelServers = defineRoute({
  operation: 'modelServerFind',
  method: 'POST',
  path: '/local/model-servers/find',
  summary: 'Detect model servers on this computer',
  description:
    'Probes ports 11434 (Ollama), 1234 (LM Studio) and 8080 (llama.cpp) on 127.0.0.1 for up to 1.5 seconds. Does not add any servers. `added` marks servers that are already in the list.',
  tag: 'Providers',
  auth: 'person',
  response: z.object({ found: z.array(DiscoveredServer) }),
})

export const addModelServer = defineRoute({
  operation: 'modelServerAdd',
  method: 'POST',
  path: '/local/model-servers',
  summary: 'Add an OpenAI-compatible model server',
  description:
    'The server must support OpenAI’s chat completions. Adds all models that it lists. A server that requires a key to list its models is added without models, with `needs_key` set to true. Enter the key in the secure prompt `server_key`.',
  example: { name: 'vllm', base_url: 'http://127.0.0.1:8000/v1', free: true },
  tag: 'Providers',
  auth: 'person',
  refusals: [409, 502],
  body: z.object({
    name: ModelServerName,
    base_url: ModelServerUrl,
    free: z
      .boolean()
      .optional()
      .describe(
        'Whether the models of the server are free of charge. Defaults to true for an address on this computer.',
      ),
  }),
  response: ModelServer,
  status: 201,
})

export const changeModelServer = defineRoute({
  operation: 'modelServerChange',
  method: 'PATCH',
  path: '/local/model-servers/:serverId',
  summary: 'Change the model price of a server',
  description:
    'The price applies to models for which the server lists no price. Set `price` to `null` if the price is unknown; limits then do not count these models. Omitted fields remain unchanged.',
  example: { free: false, price: { input_per_million: 0.5, output_per_million: 1.5 } },
  tag: 'Providers',
  auth: 'person',
  refusals: [404, 409],
  params: named,
  body: z.object({ free: z.boolean().optional(), price: ModelPrice.nullable().optional() }),
  response: ModelServer,
})

export const refreshModelServer = defineRoute({
  operation: 'modelServerRefresh',
  method: 'POST',
  path: '/local/model-servers/:serverId/refresh',
  summary: 'Refresh the models of a server',
  description: `Replaces the models (at most ${maxServedModels}) and the listed prices. If the server refuses the key, the list becomes empty and \`needs_key\` is true. Fails with 502 \`model-server/silent\` after 10 seconds and then keeps the previous list.`,
  tag: 'Providers',
  auth: 'person',
  refusals: [404, 409, 502],
  params: named,
  response: ModelServer,
})

export const removeModelServer = defineRoute({
  operation: 'modelServerRemove',
  method: 'DELETE',
  path: '/local/model-servers/:serverId',
  summary: 'Remove a model server',
  description:
    'Also removes the models and the key of the server. Later requests for these models fail. Fails with 404 `model-server/not-found`, 423 `wallet/keychain-locked` or 503 `wallet/keychain-unavailable`, and then removes nothing.',
  tag: 'Providers',
  auth: 'person',
  refusals: [404, 409, 423, 503],
  params: named,
  response: z.object({ success: z.literal(true) }),
})
