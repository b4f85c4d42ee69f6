import { z } from 'zod'
import { modelKinds } from './contract/inference.ts'

/** Reasoning efforts in ascending order. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

const EffortField = z.enum(efforts)

/** US dollars per million tokens, or micro-dollars per token. The smallest step is a millionth of a micro-dollar. */
const Price = z
  .number()
  .min(0)
  .max(100_000)
  .refine(
    (value) => Number.isInteger(Number((value * 1_000_000).toFixed(6))),
    'must have at most six digits after the point',
  )

export const PriceTier = z.strictObject({
  /** Input tokens, cached or not, above which the tier applies. */
  above_input_tokens: z.int().min(0),
  input: Price,
  output: Price,
  /** Default: the price of the input */
  cache_read: Price.optional(),
  cache_write_5m: Price.optional(),
  cache_write_1h: Price.optional(),
})

export const Reasoning = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('effort'), values: z.array(EffortField).min(1), default: EffortField }),
  z.strictObject({ by: z.literal('adaptive'), values: z.array(EffortField).min(1), default: EffortField }),
  z.strictObject({ by: z.literal('level'), values: z.array(EffortField).min(1), default: EffortField }),
  z.strictObject({
    by: z.literal('budget'),
    min: z.int().min(1),
    max: z.int().min(1),
    can_be_off: z.boolean(),
    default: EffortField,
  }),
  z.strictObject({ by: z.literal('toggle'), default: EffortField }),
])

export const refusedParameters = [
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'budget_tokens',
  'stop',
  'prefill',
  'temperature_and_top_p',
  'format_and_tools',
] as const

export const Refusal = z.strictObject({
  parameter: z.enum(refusedParameters),
  /** `reasoning`: only if reasoning is enabled. */
  when: z.enum(['always', 'reasoning']).default('always'),
  /** `reject`: dropping the parameter would change the meaning of the request. */
  outcome: z.enum(['drop', 'reject']).default('drop'),
})

export const modelFields = {
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/),
  upstream_id: z.string().min(1),
  kind: z.enum(modelKinds).default('chat'),
  /** Default size of the vectors of an embedding model. */
  dimensions: z.int().min(1).optional(),
  released_on: z.iso.date().optional(),
  context_window: z.int().min(1),
  max_output_tokens: z.int().min(1),
  images: z.boolean(),
  /** Whether the model is available only in the provider's Responses API. */
  responses_only: z.boolean().default(false),
  /** Whether tool calls in the history must include their original signatures. */
  signed_calls: z.boolean().default(false),
  /** Whether the model reasons only in streamed responses. */
  thinks_in_streams_only: z.boolean().default(false),
  /** Minimum size for prompt caching, at providers that cache only on request. Steward then requests it. */
  least_cached_tokens: z.int().min(1).optional(),
  reasoning: Reasoning.optional(),
  refuses: z.array(Refusal).default([]),
  prices: z
    .array(PriceTier)
    .min(1)
    .refine((tiers) => tiers[0]?.above_input_tokens === 0, 'must begin with a tier above 0 tokens')
    .refine(
      (tiers) =>
        tiers.every(
          (tier, index) => index === 0 || tier.above_input_tokens > (tiers[index - 1]?.above_input_tokens ?? 0),
        ),
      'must have tiers in ascending order',
    ),
}

/** Configured model: overrides a model of the catalogue, or adds a model to its family. */
export const ConfiguredModel = z.strictObject({
  ...modelFields,
  upstream_id: modelFields.upstream_id.optional(),
  kind: z.enum(modelKinds).optional(),
  context_window: modelFields.context_window.optional(),
  max_output_tokens: modelFields.max_output_tokens.optional(),
  images: modelFields.images.optional(),
  responses_only: z.boolean().optional(),
  signed_calls: z.boolean().optional(),
  thinks_in_streams_only: z.boolean().optional(),
  refuses: z.array(Refusal).optional(),
  prices: modelFields.prices.optional(),
})
export type ConfiguredModel = z.output<typeof ConfiguredModel>

export type PriceTier = z.output<typeof PriceTier>
export type ModelReasoning = z.output<typeof Reasoning>
export type ModelRefusal = z.output<typeof Refusal>
