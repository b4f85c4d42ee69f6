import { z } from 'zod'
import { defineRoute } from './route.ts'

/** Sized for images, which are part of the request. */
const maxBodyBytes = 32 * 1024 * 1024
const refusals = [402, 404, 413, 429, 502, 503, 504]
const eventStream = {
  response: {
    mediaTypes: ['application/json', 'text/event-stream'],
    description:
      'JSON, or events where `stream` is true. `x-steward-warnings` lists what was changed or removed for the provider; `x-steward-max-tokens` is the limit of output tokens, if it differs from the requested one. A retry with the same Idempotency-Key gets the first JSON response again, or 409 if that was a stream or longer than 1 MB.',
  },
  headers: {},
}

export const InferenceCost = z.object({
  micro_usd: z.int().nonnegative().describe('What was charged, in millionths of a US dollar, rounded up.'),
  currency: z.literal('USD'),
  price_version: z.string().describe('Version of the price list that was used.'),
  estimated: z.boolean().describe('The provider reported no usage, or the answer was cut off.'),
})

const model = z.string().min(1).describe('A name that GET /v1/models lists.')
const stream = z.boolean().nullish().describe('Answer in server-sent events. Default false.')

export const createChatCompletion = defineRoute({
  operation: 'chatCompletionCreate',
  errors: 'openai',
  method: 'POST',
  path: '/v1/chat/completions',
  summary: 'Answer a conversation (OpenAI chat completions)',
  description:
    'Takes what OpenAI’s chat completions take, for every model. `n` above 1 is refused. Thinking comes in `reasoning_content`; what must come back for signed thinking in `reasoning_details` and `extra_content`. The price of an answer is in `usage.cost`, of a stream with `stream_options.include_usage`.',
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
      .describe('Messages of `system`, `developer`, `user`, `assistant` and `tool`.'),
    stream,
    max_completion_tokens: z
      .unknown()
      .optional()
      .describe('Greatest number of tokens of the answer. Default: at most 16,384.'),
    max_tokens: z.unknown().optional().describe('As `max_completion_tokens`.'),
    temperature: z.unknown().optional().describe('From 0 to 2.'),
    tools: z.unknown().optional().describe('Functions that the model may call.'),
    tool_choice: z.unknown().optional(),
    parallel_tool_calls: z.unknown().optional(),
    response_format: z.unknown().optional().describe('`text`, `json_object` or `json_schema`.'),
    reasoning_effort: z.unknown().optional().describe('`none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.'),
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
  summary: 'Answer a conversation (OpenAI Responses)',
  description:
    'Accepts the fields of OpenAI Responses for every model. Refuses `store: true`, `previous_response_id`, `conversation` and `background`; output items stay in memory for an hour for `item_reference`, unless `store` is false. Unsupported tools are left out, with a warning.',
  example: { model: 'gpt-5.2', input: 'Name three prime numbers.', max_output_tokens: 500 },
  tag: 'Models',
  body: z.looseObject({
    model,
    input: z.unknown().optional().describe('A text, or a list of items.'),
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
  summary: 'Answer a conversation (Anthropic Messages)',
  description: 'Takes what Anthropic’s Messages take, for every model. Errors have Anthropic’s form.',
  example: {
    model: 'claude-sonnet-4.5',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Name three prime numbers.' }],
  },
  tag: 'Models',
  body: z.looseObject({
    ...messagesBody,
    max_tokens: z.unknown().optional().describe('Needed: the greatest number of tokens of the answer.'),
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
  description: 'Exact for models of Anthropic, which count themselves; an estimate for all others. It costs nothing.',
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
  summary: 'Embed texts (OpenAI embeddings)',
  description:
    'Takes what OpenAI’s embeddings take, for models of the kind `embedding`. The price is in `usage.cost`. An answer that would have more than 8 MB is refused. `x-steward-warnings` names fields that were left out. A repetition with the same Idempotency-Key gets the first answer again, or 409 where that is longer than a megabyte.',
  example: { model: 'text-embedding-3-small', input: ['A text to embed.', 'Another one.'] },
  tag: 'Models',
  body: z.looseObject({
    model: model.describe('A model of the kind `embedding` that GET /v1/models lists.'),
    input: z
      .unknown()
      .optional()
      .describe('Needed: a text, a list of up to 2,048 texts, a list of tokens, or a list of lists of tokens.'),
    encoding_format: z
      .unknown()
      .optional()
      .describe('`float`, the default, or `base64` of little-endian 32-bit floats.'),
    dimensions: z.unknown().optional().describe('Numbers in a vector, of models that can shorten it.'),
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

export const modelKinds = ['chat', 'embedding'] as const
export type ModelKind = (typeof modelKinds)[number]

/** Price version of a model with an unknown price, which counts as 0. */
export const unknownPriceVersion = 'unknown'

const PricePerMillion = z.number().nonnegative().describe('US dollars for a million tokens.')

const prices = {
  input_per_million: PricePerMillion,
  output_per_million: PricePerMillion,
  cache_read_per_million: PricePerMillion,
  cache_write_5m_per_million: PricePerMillion,
  cache_write_1h_per_million: PricePerMillion,
}
const PriceTier = z.object({
  above_input_tokens: z.int().describe('The tier applies if the whole input, cached or not, has more tokens.'),
  ...prices,
})

export const ListedModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  type: z.literal('model'),
  kind: z.enum(modelKinds).describe('`embedding`: for POST /v1/embeddings only; `chat`: for everything else.'),
  display_name: z.string(),
  created: z.int().describe('Unix seconds of its release; 0 where nobody knows.'),
  created_at: z.string(),
  owned_by: z.string(),
  provider: z.string(),
  available: z.boolean().describe('Steward has a key for its provider.'),
  context_window: z.int(),
  max_output_tokens: z.int().describe('0 for an embedding model.'),
  images: z.boolean(),
  reasoning: z.boolean(),
  pricing: z.object({
    ...prices,
    tiers: z.array(PriceTier).min(1).describe('In ascending order, the first one from 0 tokens.'),
    price_version: z.string().describe('`unknown`: the price is not known and counts as 0.'),
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
  summary: 'Get a model, with its prices',
  description:
    "An unknown name fails with 404 `model_not_found`, in OpenAI's error format. Models without a key for their provider are returned with `available` false.",
  tag: 'Models',
  params: z.object({ model: z.string().describe('Name from GET /v1/models, percent-encoded.') }),
  response: ListedModel,
})

export const listModels = defineRoute({
  operation: 'modelList',
  errors: 'openai',
  method: 'GET',
  path: '/v1/models',
  summary: 'List the models, with prices',
  description:
    'Returns all models at once, in the list formats of OpenAI and Anthropic. Includes models without a key for their provider, and those that the API key may not use.',
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
