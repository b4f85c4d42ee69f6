import { z } from 'zod'
import type { FamilyId } from '../../../shared/contract/families.ts'
import { type ModelKind, modelKinds } from '../../../shared/contract/inference.ts'
import type { ModelPriceTier } from '../../../shared/modelCost.ts'
import type { FamilyKind, ModelQuirks } from './families/quirks.ts'
import { efforts } from './innerForm.ts'

const Effort = z.enum(efforts)

/** US dollars for a million tokens, which are micro-dollars for one. A millionth of a micro-dollar is the least step. */
const Price = z
  .number()
  .min(0)
  .max(100_000)
  .refine((it) => Number.isInteger(Number((it * 1_000_000).toFixed(6))), 'must have at most six digits after the point')

export const PriceTier = z.strictObject({
  /** The tier counts where the whole input, cached or not, has more tokens than this. */
  above_input_tokens: z.int().min(0),
  input: Price,
  output: Price,
  /** Absent: as the input. */
  cache_read: Price.optional(),
  cache_write_5m: Price.optional(),
  cache_write_1h: Price.optional(),
})

const Reasoning = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('effort'), values: z.array(Effort).min(1), default: Effort }),
  z.strictObject({ by: z.literal('adaptive'), values: z.array(Effort).min(1), default: Effort }),
  z.strictObject({ by: z.literal('level'), values: z.array(Effort).min(1), default: Effort }),
  z.strictObject({
    by: z.literal('budget'),
    min: z.int().min(1),
    max: z.int().min(1),
    can_be_off: z.boolean(),
    default: Effort,
  }),
  z.strictObject({ by: z.literal('toggle'), default: Effort }),
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
  /** `reasoning`: only where the model thinks. */
  when: z.enum(['always', 'reasoning']).default('always'),
  /** `reject`: without it the request would mean something else. */
  outcome: z.enum(['drop', 'reject']).default('drop'),
})

export const modelFields = {
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/),
  upstream_id: z.string().min(1),
  kind: z.enum(modelKinds).default('chat'),
  /** Numbers in a vector of an embedding model, unless a request asks for fewer. */
  dimensions: z.int().min(1).optional(),
  released_on: z.iso.date().optional(),
  context_window: z.int().min(1),
  max_output_tokens: z.int().min(1),
  images: z.boolean(),
  /** Answers at the provider's Responses API only. */
  responses_only: z.boolean().default(false),
  /** Calls of a history must carry the signatures that they came with. */
  signed_calls: z.boolean().default(false),
  /** Thinks only where the answer is streamed. */
  thinks_in_streams_only: z.boolean().default(false),
  /** The provider keeps prompts only where it is asked to, and none with fewer tokens: then Steward asks by itself. */
  least_cached_tokens: z.int().min(1).optional(),
  reasoning: Reasoning.optional(),
  refuses: z.array(Refusal).default([]),
  prices: z
    .array(PriceTier)
    .min(1)
    .refine((tiers) => tiers[0]?.above_input_tokens === 0, 'must begin with a tier above 0 tokens')
    .refine(
      (tiers) => tiers.every((it, at) => at === 0 || it.above_input_tokens > (tiers[at - 1]?.above_input_tokens ?? 0)),
      'must have tiers in ascending order',
    ),
}

export type PriceTier = z.output<typeof PriceTier>
export type ModelReasoning = z.output<typeof Reasoning>
export type ModelRefusal = z.output<typeof Refusal>

/** What the translators and the bill need of a model. */
export type CatalogueModel = {
  name: string
  kind: FamilyKind
  quirks: ModelQuirks
  /** Of a family, or the name of a local server. */
  place: FamilyId | `local:${string}`
  upstreamId: string
  modelKind: ModelKind
  /** Numbers in a vector by default. Undefined: unknown, or not an embedding model. */
  dimensions: number | undefined
  releasedOnSeconds: number
  contextWindow: number
  maxOutputTokens: number
  images: boolean
  responsesOnly: boolean
  signedCalls: boolean
  thinksInStreamsOnly: boolean
  leastCachedTokens: number | undefined
  reasoning: ModelReasoning | undefined
  refuses: readonly ModelRefusal[]
  /** Tiers in ascending order, the first from 0 tokens. */
  tiers: readonly ModelPriceTier[]
  priceVersion: string
}
