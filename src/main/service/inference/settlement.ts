import { computeModelCost } from '#shared/modelCost.ts'
import type { CanonicalAnswer } from './answer.ts'
import { findMalformedCalls } from './answerStream.ts'
import { type CanonicalEvent, type CanonicalRequest, sumInput, type Usage } from './canonical.ts'
import type { CatalogueModel } from './catalogueModel.ts'
import type { UsageReport } from './dialects/dialect.ts'
import type { Charge, Reservation } from './inferenceCredits.ts'
import { estimateUsage } from './usageEstimate.ts'

/** Model that is paid for, and the reservation. */
export type Purchase = { model: CatalogueModel; reservation: Reservation; fetched: CanonicalRequest }

/** The answer came to its end: what the provider counted is paid, or an estimate where it did not count. */
export async function settleWhole(purchase: Purchase, whole: CanonicalAnswer): Promise<UsageReport> {
  const { usage } = whole
  if (usage && isPlausible(usage, purchase.model)) return await settleUsage(purchase, whole, usage)
  return await settleUsage(purchase, { ...whole, usage: undefined }, undefined)
}

/** The answer broke off, or was left: all of the input is paid, and the output that came. */
export async function settleCut(purchase: Purchase, received: CanonicalAnswer): Promise<UsageReport> {
  const usage = received.usage && isPlausible(received.usage, purchase.model) ? received.usage : undefined
  return await settleUsage(purchase, { ...received, usage }, undefined)
}

/** Settles after the client disconnected before any output; the provider may have read all of the input. */
export async function settleUnanswered(purchase: Purchase): Promise<void> {
  const nothing = { id: undefined, parts: [], usage: undefined, native: undefined, stopSequence: undefined }
  await settleCut(purchase, { ...nothing, reason: 'stop' })
}

/** An error in the place of an answer: only what the provider counted is paid. */
export async function settleFailed({ model, reservation }: Purchase, events: readonly CanonicalEvent[]): Promise<void> {
  const usage = events.findLast((event) => event.type === 'usage')?.usage
  if (!usage || !isPlausible(usage, model)) return await reservation.release()
  const amountMicroUsd = computeModelCost(model.tiers, usage)
  await reservation.settle({ amountMicroUsd, priceVersion: model.priceVersion, usage, estimated: false })
}

async function settleUsage(
  purchase: Purchase,
  answer: CanonicalAnswer,
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
    // Has no effect once settled.
    await reservation.release()
  }
}

/**
 * Whether a provider's count is plausible. Some send zeros until they have counted, and a count above the model's context
 * window is wrong.
 */
function isPlausible(usage: Usage, { contextWindow }: Pick<CatalogueModel, 'contextWindow'>): boolean {
  const input = sumInput(usage)
  return input + usage.output > 0 && input <= contextWindow && usage.output <= contextWindow
}

/**
 * Whatever ends it first counts: a stream may be left, cut and finished at once.
 * @param onEnd called once, with the first
 */
export function endOnce(reservation: Reservation, onEnd: () => void): Reservation {
  let ended: Promise<number> | undefined
  const settle = async (charge: Charge): Promise<number> => {
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
