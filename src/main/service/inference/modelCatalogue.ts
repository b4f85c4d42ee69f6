import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from '../../../shared/appError.ts'
import { describeIssue } from '../../../shared/contract/describeIssue.ts'
import { type ModelKind, modelKinds, unknownPriceVersion } from '../../../shared/contract/inference.ts'
import type { ModelPriceTier } from '../../../shared/modelCost.ts'
import { efforts } from './innerForm.ts'
import { guessModelKind } from './modelKind.ts'

/** The five families of the interface, and servers of the user's own. */
export const familyIds = ['a', 'b', 'c', 'd', 'e'] as const
export type FamilyId = (typeof familyIds)[number]

/** How a provider is spoken to. The last three are OpenAI's way with habits of their own. */
export const upstreamKinds = ['openai', 'anthropic', 'gemini', 'moonshot', 'qwen', 'local'] as const
export type UpstreamKind = (typeof upstreamKinds)[number]

const Effort = z.enum(efforts)

/** US dollars for a million tokens, which are micro-dollars for one. A millionth of a micro-dollar is the least step. */
const Price = z
  .number()
  .min(0)
  .max(100_000)
  .refine((it) => Number.isInteger(Number((it * 1_000_000).toFixed(6))), 'must have at most six digits after the point')

const PriceTier = z.strictObject({
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

const Refusal = z.strictObject({
  parameter: z.enum(refusedParameters),
  /** `reasoning`: only where the model thinks. */
  when: z.enum(['always', 'reasoning']).default('always'),
  /** `reject`: without it the request would mean something else. */
  outcome: z.enum(['drop', 'reject']).default('drop'),
})

const modelFields = {
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

const Catalogue = z.strictObject({
  price_version: z.string().min(1),
  prices_read_on: z.iso.date(),
  prices_read_from: z.url(),
  families: z.record(
    z.enum(familyIds),
    z.strictObject({ provider: z.string(), title: z.string(), kind: z.enum(upstreamKinds), base_url: z.url() }),
  ),
  models: z.array(
    z
      .strictObject({
        ...modelFields,
        max_output_tokens: modelFields.max_output_tokens.optional(),
        family: z.enum(familyIds),
      })
      .refine(
        (it) => it.kind === 'embedding' || it.max_output_tokens !== undefined,
        'must have `max_output_tokens` unless it is an embedding model',
      ),
  ),
})

/** A model of the user's config: one of ours with other values, or one more of its family. */
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

/** What the translators and the bill need of a model. */
export type CatalogueModel = {
  name: string
  kind: UpstreamKind
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

export type Family = z.output<typeof Catalogue>['families'][FamilyId]
export type ModelCatalogue = {
  priceVersion: string
  families: Readonly<Record<FamilyId, Family>>
  models: ReadonlyMap<string, CatalogueModel>
}

/** @throws AppError `config/invalid` naming what is wrong in the file or in what the user configured */
export function modelCatalogue(
  content: unknown,
  configured: Partial<Record<FamilyId, readonly ConfiguredModel[]>> = {},
): ModelCatalogue {
  const read = Catalogue.safeParse(content)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new AppError('config/invalid', `The model catalogue is wrong: ${issue && describeIssue(issue, content)}`)
  }
  const { price_version: priceVersion, families } = read.data
  const models = new Map<string, CatalogueModel>()
  for (const { family, ...fields } of read.data.models) {
    models.set(fields.name, modelOf({ fields, kind: families[family].kind, place: family, priceVersion }))
  }
  for (const family of familyIds) {
    for (const it of configured[family] ?? []) {
      const known = read.data.models.find((one) => one.name === it.name && one.family === family)
      if (!known && !it.prices) {
        throw new AppError('config/invalid', `\`inference.families.${family}.models\`: ${it.name} needs \`prices\`.`)
      }
      const { family: _, ...base } = known ?? { ...unpriced, family }
      const fields = { upstream_id: it.name, ...base, ...given(it) }
      const version = it.prices ? `${priceVersion}+configured` : priceVersion
      if (fields.kind === 'embedding' && withoutEmbeddings.includes(families[family].kind)) {
        const place = `\`inference.families.${family}.models\``
        throw new AppError('config/invalid', `${place}: ${it.name} cannot be an embedding model of this provider.`)
      }
      models.set(it.name, modelOf({ fields, kind: families[family].kind, place: family, priceVersion: version }))
    }
  }
  return { priceVersion, families, models }
}

/** Their APIs for embeddings are not OpenAI's. */
const withoutEmbeddings: readonly UpstreamKind[] = ['anthropic', 'gemini']

export function readModelCatalogue(
  file: string,
  configured?: Partial<Record<FamilyId, readonly ConfiguredModel[]>>,
): ModelCatalogue {
  return modelCatalogue(JSON.parse(readFileSync(file, 'utf8')), configured)
}

/** Creates a model of a user's server. Without `prices` it is free, or its price is unknown and counts as 0. */
export function localModel(
  server: string,
  it: Pick<ConfiguredModel, 'name'> & Partial<ConfiguredModel>,
  { isFree = true }: { isFree?: boolean | undefined } = {},
): CatalogueModel {
  return modelOf({
    fields: { ...unpriced, upstream_id: it.name, kind: guessModelKind(it.name), ...given(it) },
    kind: 'local',
    place: `local:${server}`,
    priceVersion: it.prices ? 'configured' : isFree ? 'free' : unknownPriceVersion,
  })
}

/** What a model that the user adds has unless they say so. */
const unpriced = {
  kind: 'chat' as const,
  context_window: 128_000,
  max_output_tokens: 16_384,
  images: true,
  responses_only: false,
  signed_calls: false,
  thinks_in_streams_only: false,
  refuses: [],
  prices: [{ above_input_tokens: 0, input: 0, output: 0 }],
}

type ModelFields = Omit<z.output<typeof Catalogue>['models'][number], 'family'>

function modelOf({
  fields,
  kind,
  place,
  priceVersion,
}: {
  fields: ModelFields
  kind: UpstreamKind
  place: CatalogueModel['place']
  priceVersion: string
}): CatalogueModel {
  return {
    name: fields.name,
    kind,
    place,
    upstreamId: fields.upstream_id,
    modelKind: fields.kind,
    dimensions: fields.dimensions,
    releasedOnSeconds: fields.released_on === undefined ? 0 : Date.parse(fields.released_on) / 1000,
    contextWindow: fields.context_window,
    maxOutputTokens: fields.kind === 'embedding' ? 0 : Math.min(fields.max_output_tokens ?? 0, fields.context_window),
    images: fields.images,
    responsesOnly: fields.responses_only,
    signedCalls: fields.signed_calls,
    thinksInStreamsOnly: fields.thinks_in_streams_only,
    leastCachedTokens: fields.least_cached_tokens,
    reasoning: fields.reasoning,
    refuses: fields.refuses,
    tiers: fields.prices.map(toPriceTier),
    priceVersion,
  }
}

function toPriceTier(tier: PriceTier): ModelPriceTier {
  const write5m = tier.cache_write_5m ?? tier.input
  return {
    above_input_tokens: tier.above_input_tokens,
    input_per_million: tier.input,
    output_per_million: tier.output,
    cache_read_per_million: tier.cache_read ?? tier.input,
    cache_write_5m_per_million: write5m,
    cache_write_1h_per_million: tier.cache_write_1h ?? write5m,
  }
}

type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T> // just filtered
}
