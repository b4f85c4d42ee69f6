import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelKind } from '#shared/contract/inference.ts'
import type { ModelPriceTier } from '#shared/modelCost.ts'
import type { ModelReasoning, ModelRefusal } from '#shared/modelFields.ts'
import type { FamilyKind, ModelQuirks } from '../families/quirks.ts'

/** Model with the data that translation and billing need. */
export type CatalogueModel = {
  name: string
  kind: FamilyKind
  quirks: ModelQuirks
  /** Id of the family, or name of a local server. */
  providerId: FamilyId | `local:${string}`
  upstreamId: string
  modelKind: ModelKind
  /** Default vector length. Undefined if unknown, or for other kinds of models. */
  dimensions: number | undefined
  releasedOnSeconds: number
  contextWindow: number
  maxOutputTokens: number
  images: boolean
  responsesOnly: boolean
  signedCalls: boolean
  thinksInStreamsOnly: boolean
  minCachedTokens: number | undefined
  reasoning: ModelReasoning | undefined
  refuses: readonly ModelRefusal[]
  /** Tiers in ascending order, the first from 0 tokens. */
  tiers: readonly ModelPriceTier[]
  priceVersion: string
}
