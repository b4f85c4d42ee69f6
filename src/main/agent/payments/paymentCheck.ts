import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { PaymentCheck } from '#shared/contract/localPayments.ts'
import { normalizeAddress, usdcDecimals } from '#shared/contract/networks.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { PaymentBudgets } from '../budgets/paymentBudgets.ts'
import { type ChosenOffer, type PurchaseRequest, toIntent } from './paymentPlan.ts'
import type { PaymentRequirementsReader } from './paymentRequirementsReader.ts'

type CheckOptions = {
  demands: PaymentRequirementsReader
  budgets: Pick<PaymentBudgets, 'refusal' | 'statesFor'>
  approvals: Pick<Approvals, 'preview'>
}

/** Creates the check that returns the cost of a resource and its policy evaluation without signing. */
export function createPaymentCheck({ demands, budgets, approvals }: CheckOptions) {
  const evaluateChoice = async (
    request: PurchaseRequest,
    choice: ChosenOffer,
    requester: Requester,
    target: { host: string; scope: string },
  ) => {
    const amount = BigInt(choice.chosen.offer.amount)
    const refusal = budgets.refusal({ ...target, amountMicroUsd: amount, by: 'policy' })
    if (refusal?.effect === 'deny') return { effect: 'refuse' as const, detail: refusal.detail }
    try {
      await demands.assertAllowance(choice)
      const verdict = await approvals.preview({ intent: toIntent(choice, request), requester })
      if (verdict.effect === 'deny') return { effect: 'refuse' as const, detail: verdict.detail }
      if (refusal) return { effect: 'ask' as const, detail: refusal.detail }
      const money = `${formatTokenAmount(amount, usdcDecimals)} USDC`
      if (verdict.effect === 'ask') return { effect: 'ask' as const, detail: `${money} needs your approval first.` }
      return { effect: 'allow' as const, detail: verdict.detail }
    } catch (error) {
      if (error instanceof AppError) return { effect: 'refuse' as const, detail: error.message }
      throw error
    }
  }

  return async (request: PurchaseRequest, requester: Requester, signal: AbortSignal): Promise<PaymentCheck> => {
    const answer = await demands.requestUnpaid(request, signal)
    const { method } = request.request
    const result = { url: request.url, method, status: answer.status }
    if (answer.status !== 402) {
      return { ...result, needs_payment: false, offers: [], chosen: null, verdict: null, budgets: [] }
    }
    const demand = demands.parse(answer, request)
    const offers = demand.offers.map(({ offer }) => offer)
    const { choice } = demand
    if (!choice) {
      const detail =
        offers.length === 0 ? 'Its payment request is not valid x402.' : 'Steward cannot pay any of its options.'
      return {
        ...result,
        needs_payment: true,
        offers,
        chosen: null,
        verdict: { effect: 'refuse', detail },
        budgets: [],
      }
    }
    const { network, pay_to } = choice.chosen.offer
    const target = { host: new URL(request.url).host, scope: `${network}:${normalizeAddress(pay_to)}` }
    const verdict = await evaluateChoice(request, choice, requester, target)
    const states = budgets.statesFor(target)
    return { ...result, needs_payment: true, offers, chosen: choice.index, verdict, budgets: states }
  }
}
