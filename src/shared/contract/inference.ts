import { z } from 'zod'
import { defineRoute } from './route.ts'

/** Sized for images, which are part of the request. */
const maxBodyBytes = 32 * 1024 * 1024
const refusals = [402, 404, 413, 429, 502, 503, 504]
const eventStream = {
  response: {
    mediaTypes: ['application/json', 'text/event-stream'],
    description:
      'JSON, or server-sent events if `stream` is true. `x-steward-warnings` lists parameters that were changed or removed for the provider. `x-steward-max-tokens` is the limit of output tokens, if it differs from the requested limit. A retry with the same Idempotency-Key returns the first JSON response again, or 409 if that response was a stream or longer than 1 MB.',
  },
  headers: {},
}

/** Amount charged for a request. */
export const InferenceCost = z.object({
  micro_usd: z.int().nonnegative().describe('Amount charged, in millionths of a US dollar, rounded up.'),
  currency: z.literal('USD'),
  price_version: z.string().describe('Version of the price list used for the charge.'),
  estimated: z
    .boolean()
    .describe('Whether the usage is an estimate, because the provider reported none or the response was cut off.'),
})

const model = z.string().min(1).describe('Name of a model from GET /v1/models.')
const stream = z.boolean().nullish().describe('Whether to stream the response as server-sent events. Default: false.')

export const createChatCompletion = defineRoute({
  operation: 'chatCompletionCreate',
  errors: 'openai',
  method: 'POST',
  path: '/v1/chat/completions',
  summary: 'Create a chat completion (OpenAI Chat Completions)',
  description:
    'Accepts the fields of OpenAI Chat Completions for every model. Refuses `n` above 1. Returns reasoning in `reasoning_content`. Send `reasoning_details` and `extra_content` back to continue signed reasoning. The price is in `usage.cost`; a stream includes it with `stream_options.include_usage`.',
  example: {
    model: 'gpt-5.2',
    messages: [{ role: 'user', content: 'Name three prime numbers.' }],
    max_completion_tokens: 500,
  },
  tag: 'Models',
  body: z.looseObject({
    model,
    messages: z
      .array(z.looseObject({}))
      .min(1)
      .describe('Messages with the roles `system`, `developer`, `user`, `assistant` and `tool`.'),
    stream,
    max_completion_tokens: z.unknown().optional().describe('Maximum number of output tokens. Default: at most 16,384.'),
    max_tokens: z.unknown().optional().describe('Alias of `max_completion_tokens`.'),
    temperature: z.unknown().optional().describe('From 0 to 2.'),
    tools: z.unknown().optional().describe('Functions that the model may call.'),
    tool_choice: z.unknown().optional(),
    parallel_tool_calls: z.unknown().optional(),
    response_format: z.unknown().optional().describe('Format of the response: `text`, `json_object` or `json_schema`.'),
    reasoning_effort: z
      .unknown()
      .optional()
      .describe('Reasoning effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.'),
    stop: z.unknown().optional(),
    seed: z.unknown().optional(),
    top_p: z.unknown().optional(),
  }),
  response: z.looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({})),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
      cost: InferenceCost,
    }),
  }),
  refusals,
  idempotent: true,
  maxBodyBytes,
  raw: eventStream,
})

export const createResponse = defineRoute({
  operation: 'responseCreate',
  errors: 'openai',
  method: 'POST',
  path: '/v1/responses',
  summary: 'Create a model response (OpenAI Responses)',
  description:
    'Accepts the fields of OpenAI Responses for every model. Refuses `store: true`, `previous_response_id`, `conversation` and `background`. Output items stay in memory for an hour for `item_reference`, unless `store` is false. Unsupported tools are removed, with a warning.',
  example: { model: 'gpt-5.2', input: 'Name three prime numbers.', max_output_tokens: 500 },
  tag: 'Models',
  body: z.looseObject({
    model,
    input: z.unknown().optional().describe('Text, or a list of items.'),
    instructions: z.unknown().optional(),
    stream,
    max_output_tokens: z.unknown().optional(),
    tools: z.unknown().optional(),
    reasoning: z.unknown().optional(),
    text: z.unknown().optional(),
  }),
  response: z.looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.string(),
    output: z.array(z.looseObject({})),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), cost: InferenceCost }),
  }),
  refusals,
  idempotent: true,
  maxBodyBytes,
  raw: eventStream,
})

const messagesBody = {
  model,
  messages: z.array(z.looseObject({})).min(1),
  system: z.unknown().optional(),
  tools: z.unknown().optional(),
  thinking: z.unknown().optional(),
}

export const createMessage = defineRoute({
  operation: 'messageCreate',
  errors: 'anthropic',
  method: 'POST',
  path: '/v1/messages',
  summary: 'Create a message (Anthropic Messages)',
  description: 'Accepts the fields of Anthropic Messages for every model. Errors use the Anthropic format.',
  example: {
    model: 'claude-sonnet-4.5',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Name three prime numbers.' }],
  },
  tag: 'Models',
  body: z.looseObject({
    ...messagesBody,
    max_tokens: z.unknown().optional().describe('Required. Maximum number of output tokens.'),
    stream,
  }),
  response: z.looseObject({
    id: z.string(),
    type: z.literal('message'),
    content: z.array(z.looseObject({})),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), cost: InferenceCost }),
  }),
  refusals,
  idempotent: true,
  maxBodyBytes,
  raw: eventStream,
})

export const countMessageTokens = defineRoute({
  operation: 'messageCountTokens',
  errors: 'anthropic',
  method: 'POST',
  path: '/v1/messages/count_tokens',
  summary: 'Count the input tokens of a message',
  description:
    'Returns an exact count from the provider for Anthropic models, and an estimate for all others. Requests are free of charge.',
  example: { model: 'claude-sonnet-4.5', messages: [{ role: 'user', content: 'Name three prime numbers.' }] },
  tag: 'Models',
  body: z.looseObject(messagesBody),
  response: z.object({ input_tokens: z.int().nonnegative() }),
  refusals: [404, 429, 502, 503, 504],
  maxBodyBytes,
})

const maxEmbeddingsBodyBytes = 8 * 1024 * 1024

export const createEmbeddings = defineRoute({
  operation: 'embeddingsCreate',
  errors: 'openai',
  method: 'POST',
  path: '/v1/embeddings',
  summary: 'Create embeddings (OpenAI Embeddings)',
  description:
    'Accepts the fields of OpenAI Embeddings for models of the kind `embedding`. Refuses a request whose response would exceed 8 MB. The price is in `usage.cost`. `x-steward-warnings` lists removed fields. A retry with the same Idempotency-Key returns the first response again, or 409 if that response is longer than 1 MB.',
  example: { model: 'text-embedding-3-small', input: ['A text to embed.', 'Another one.'] },
  tag: 'Models',
  body: z.looseObject({
    model: model.describe('Name of a model of the kind `embedding` from GET /v1/models.'),
    input: z
      .unknown()
      .optional()
      .describe('Required. Text, a list of up to 2,048 texts, a list of tokens, or a list of token lists.'),
    encoding_format: z
      .unknown()
      .optional()
      .describe('Encoding of the vectors: `float` (default), or `base64` of little-endian 32-bit floats.'),
    dimensions: z
      .unknown()
      .optional()
      .describe('Number of dimensions of each vector, for models that can shorten vectors.'),
    user: z.unknown().optional(),
  }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int().nonnegative(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int(), cost: InferenceCost }),
  }),
  refusals,
  idempotent: true,
  maxBodyBytes: maxEmbeddingsBodyBytes,
})

/** Kinds of models, by the endpoints that they serve. */
export const modelKinds = ['chat', 'embedding'] as const
export type ModelKind = (typeof modelKinds)[number]

/** Price version of a model with an unknown price, which counts as 0. */
export const unknownPriceVersion = 'unknown'

const PricePerMillion = z.number().nonnegative().describe('Price in US dollars per million tokens.')

const prices = {
  input_per_million: PricePerMillion,
  output_per_million: PricePerMillion,
  cache_read_per_million: PricePerMillion,
  cache_write_5m_per_million: PricePerMillion,
  cache_write_1h_per_million: PricePerMillion,
}
const PriceTier = z.object({
  above_input_tokens: z
    .int()
    .describe(
      'Lower bound of the tier. The tier applies if the whole input, including cached tokens, has more tokens.',
    ),
  ...prices,
})

/** Model with its limits in tokens and its prices. Fields follow the OpenAI and Anthropic model lists. */
export const ListedModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  type: z.literal('model'),
  kind: z
    .enum(modelKinds)
    .describe('`embedding`: only for POST /v1/embeddings. `chat`: for all other model endpoints.'),
  display_name: z.string(),
  created: z.int().describe('Release time of the model, in Unix seconds. 0 if unknown.'),
  created_at: z.string(),
  owned_by: z.string(),
  provider: z.string(),
  available: z.boolean().describe('Whether Steward has a key for the provider of the model.'),
  context_window: z.int(),
  max_output_tokens: z.int().describe('Maximum number of output tokens. 0 for an embedding model.'),
  images: z.boolean(),
  reasoning: z.boolean(),
  pricing: z.object({
    ...prices,
    tiers: z.array(PriceTier).min(1).describe('Price tiers in ascending order. The first tier starts at 0 tokens.'),
    price_version: z.string().describe('Version of the price list. `unknown` if the price is unknown and counts as 0.'),
  }),
})
export type ListedModel = z.infer<typeof ListedModel>

/** Whether the model supports chat completions. */
export function isChatModel({ kind }: Pick<ListedModel, 'kind'>): boolean {
  return kind === 'chat'
}

export const getModel = defineRoute({
  operation: 'modelGet',
  errors: 'openai',
  method: 'GET',
  path: '/v1/models/:model',
  summary: 'Get a model and its prices',
  description:
    'Returns a model without a provider key with `available` false. Fails with 404 `model_not_found` in the OpenAI error format if the name is unknown.',
  tag: 'Models',
  params: z.object({ model: z.string().describe('Model name from GET /v1/models, percent-encoded.') }),
  response: ListedModel,
})

export const listModels = defineRoute({
  operation: 'modelList',
  errors: 'openai',
  method: 'GET',
  path: '/v1/models',
  summary: 'List the models and their prices',
  description:
    'Returns all models without pagination, in a format compatible with the OpenAI and Anthropic lists. Includes models without a provider key and models that the API key may not use.',
  tag: 'Models',
  response: z.object({
    object: z.literal('list'),
    data: z.array(ListedModel),
    models: z.array(ListedModel).describe('As `data`.'),
    has_more: z.literal(false),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
})
