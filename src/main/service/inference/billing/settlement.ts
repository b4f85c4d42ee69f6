import { computeModelCost } from '#shared/modelCost.ts'
import type { CanonicalCompletion } from '../canonical/answer.ts'
import { type CanonicalEvent, type CanonicalRequest, sumInput, type Usage } from '../canonical/canonical.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import type { UsageReport } from '../dialects/dialect.ts'
import { findMalformedCalls } from '../streaming/completionStream.ts'
import type { InferenceCharge, InferenceReservation } from './inferenceCredits.ts'
import { estimateUsage } from './usageEstimate.ts'

/** Model and reservation of a charged request. */
export type Purchase = { model: CatalogueModel; reservation: InferenceReservation; fetched: CanonicalRequest }

/** Settles a finished completion. Charges the provider's usage, or an estimate if it is missing or implausible. */
export async function settleComplete(purchase: Purchase, whole: CanonicalCompletion): Promise<UsageReport> {
  const { usage } = whole
  if (usage && isPlausible(usage, purchase.model)) return await settleUsage(purchase, whole, usage)
  return await settleUsage(purchase, { ...whole, usage: undefined }, undefined)
}

/** Settles a completion that was cut off or abandoned. Charges the full input and the received output. */
export async function settlePartial(purchase: Purchase, received: CanonicalCompletion): Promise<UsageReport> {
  const usage = received.usage && isPlausible(received.usage, purchase.model) ? received.usage : undefined
  return await settleUsage(purchase, { ...received, usage }, undefined)
}

/**
 * Settles a request whose client disconnected before any output. Charges the full input, which the provider may have
 * read.
 */
export async function settleWithoutOutput(purchase: Purchase): Promise<void> {
  const nothing = { id: undefined, parts: [], usage: undefined, native: undefined, stopSequence: undefined }
  await settlePartial(purchase, { ...nothing, reason: 'stop' })
}

/** Settles an error response. Charges only usage that the provider reported. */
export async function settleFailed({ model, reservation }: Purchase, events: readonly CanonicalEvent[]): Promise<void> {
  const usage = events.findLast((event) => event.type === 'usage')?.usage
  if (!usage || !isPlausible(usage, model)) return await reservation.release()
  const amountMicroUsd = computeModelCost(model.tiers, usage)
  await reservation.settle({ amountMicroUsd, priceVersion: model.priceVersion, usage, estimated: false })
}

async function settleUsage(
  purchase: Purchase,
  answer: CanonicalCompletion,
  reportedUsage: Usage | undefined,
): Promise<UsageReport> {
  const { model, reservation, fetched } = purchase
  const estimated = reportedUsage === undefined
  try {
    const usage = reportedUsage ?? (await estimateUsage(fetched, answer, reservation.maxOutputTokens))
    const amountMicroUsd = computeModelCost(model.tiers, usage)
    const charged = await reservation.settle({ amountMicroUsd, priceVersion: model.priceVersion, usage, estimated })
    const cost = { micro_usd: charged, currency: 'USD' as const, price_version: model.priceVersion, estimated }
    return { usage, cost, warnings: findMalformedCalls(answer.parts) }
  } finally {
    // Has no effect after settlement.
    await reservation.release()
  }
}

/**
 * Whether reported usage is plausible. Some providers send zeros until they have counted, and a count above the context
 * window is wrong.
 */
function isPlausible(usage: Usage, { contextWindow }: Pick<CatalogueModel, 'contextWindow'>): boolean {
  const input = sumInput(usage)
  return input + usage.output > 0 && input <= contextWindow && usage.output <= contextWindow
}

/**
 * Ends a reservation with the first call, because a stream may be abandoned, cut off and finished concurrently.
 * @param onEnd called once, with the first call
 */
export function createOneTimeReservation(reservation: InferenceReservation, onEnd: () => void): InferenceReservation {
  let ended: Promise<number> | undefined
  const settle = async (charge: InferenceCharge): Promise<number> => {
    onEnd()
    return await reservation.settle(charge)
  }
  const release = async (): Promise<number> => {
    onEnd()
    await reservation.release()
    return 0
  }
  return {
    maxOutputTokens: reservation.maxOutputTokens,
    settle(charge) {
      ended ??= settle(charge)
      return ended
    },
    async release() {
      ended ??= release()
      await ended
    },
  }
}
