import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import { describeIssue } from '#shared/contract/describeIssue.ts'
import { FamilyId, familyIds, mapFamilies } from '#shared/contract/families.ts'
import { unknownPriceVersion } from '#shared/contract/inference.ts'
import type { ModelPriceTier } from '#shared/modelCost.ts'
import { type ConfiguredModel, modelFields, type PriceTier } from '#shared/modelFields.ts'
import { modelFamilies } from '../families/modelFamilies.ts'
import { type FamilyKind, familyKinds } from '../families/quirks.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import { guessModelKind } from './modelKind.ts'

const Catalogue = z.strictObject({
  price_version: z.string().min(1),
  prices_read_on: z.iso.date(),
  prices_read_from: z.url(),
  families: z.record(FamilyId, z.strictObject({ kind: z.enum(familyKinds), base_url: z.url() })),
  models: z.array(
    z
      .strictObject({
        ...modelFields,
        max_output_tokens: modelFields.max_output_tokens.optional(),
        family: FamilyId,
      })
      .refine(
        (value) => value.kind === 'embedding' || value.max_output_tokens !== undefined,
        'must have `max_output_tokens` unless it is an embedding model',
      ),
  ),
})

export type ModelCatalogue = {
  priceVersion: string
  kinds: Readonly<Record<FamilyId, FamilyKind>>
  /** Base URLs of the providers, without a trailing slash. */
  baseUrls: Readonly<Record<FamilyId, string>>
  models: ReadonlyMap<string, CatalogueModel>
}

/** @throws AppError `config/invalid` that describes the error in the file or in the configuration */
export function createModelCatalogue(
  content: unknown,
  configured: Partial<Record<FamilyId, readonly ConfiguredModel[]>> = {},
): ModelCatalogue {
  const read = Catalogue.safeParse(content)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new AppError('config/invalid', `The model catalogue is not valid: ${issue && describeIssue(issue, content)}`)
  }
  const { price_version: priceVersion, families } = read.data
  const kinds = mapFamilies((id) => families[id].kind)
  const models = new Map<string, CatalogueModel>()
  for (const { family, ...fields } of read.data.models) {
    models.set(fields.name, createModel({ fields, kind: kinds[family], providerId: family, priceVersion }))
  }
  for (const family of familyIds) {
    for (const configuredModel of configured[family] ?? []) {
      const listedModel = read.data.models.find(
        (model) => model.name === configuredModel.name && model.family === family,
      )
      if (!listedModel && !configuredModel.prices) {
        throw new AppError(
          'config/invalid',
          `\`inference.families.${family}.models\`: ${configuredModel.name} needs \`prices\`.`,
        )
      }
      const { family: _, ...base } = listedModel ?? { ...unpriced, family }
      const fields = { upstream_id: configuredModel.name, ...base, ...omitUndefinedFields(configuredModel) }
      const version = configuredModel.prices ? `${priceVersion}+configured` : priceVersion
      if (fields.kind === 'embedding' && !modelFamilies[kinds[family]].quirks.embeddings) {
        const path = `\`inference.families.${family}.models\``
        throw new AppError(
          'config/invalid',
          `${path}: ${configuredModel.name} cannot be an embedding model of this provider.`,
        )
      }
      models.set(
        configuredModel.name,
        createModel({ fields, kind: kinds[family], providerId: family, priceVersion: version }),
      )
    }
  }
  return { priceVersion, kinds, baseUrls: mapFamilies((id) => families[id].base_url), models }
}

export function readModelCatalogue(
  file: string,
  configured?: Partial<Record<FamilyId, readonly ConfiguredModel[]>>,
): ModelCatalogue {
  return createModelCatalogue(JSON.parse(readFileSync(file, 'utf8')), configured)
}

/** Creates a model of a user's server. Without `prices` it is free, or its price is unknown and counts as 0. */
export function toLocalModel(
  server: string,
  model: Pick<ConfiguredModel, 'name'> & Partial<ConfiguredModel>,
  { isFree = true }: { isFree?: boolean | undefined } = {},
): CatalogueModel {
  return createModel({
    fields: { ...unpriced, upstream_id: model.name, kind: guessModelKind(model.name), ...omitUndefinedFields(model) },
    kind: 'local',
    providerId: `local:${server}`,
    priceVersion: model.prices ? 'configured' : isFree ? 'free' : unknownPriceVersion,
  })
}

/** Defaults of a model that the user adds. */
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

function createModel({
  fields,
  kind,
  providerId,
  priceVersion,
}: {
  fields: ModelFields
  kind: FamilyKind
  providerId: CatalogueModel['providerId']
  priceVersion: string
}): CatalogueModel {
  return {
    name: fields.name,
    kind,
    quirks: modelFamilies[kind].quirks,
    providerId,
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
    minCachedTokens: fields.least_cached_tokens,
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

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function omitUndefinedFields<T extends object>(fields: T): Defined<T> {
  // filtered above
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
}
