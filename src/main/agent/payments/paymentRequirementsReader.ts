import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { normalizeAddress, usdcDecimals } from '#shared/contract/networks.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import { toServiceError } from '../base/serviceRefusal.ts'
import type { PaymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import type { PaymentBudgets } from '../budgets/paymentBudgets.ts'
import {
  type ChosenOffer,
  type ParsedPaymentRequired,
  type PurchaseRequest,
  parsePaymentRequired,
} from './paymentPlan.ts'
import type { SellerResponse } from './seller.ts'

/** Requests resources without a payment, and compares the seller's requirements with what the wallet may pay. */
export type PaymentRequirementsReader = {
  /**
   * Returns an error status of a third party as its response. Throws an error of Steward's service with its code and
   * message.
   */
  requestUnpaid(request: PurchaseRequest, signal: AbortSignal): Promise<SellerResponse>
  /** Parses a 402 response. */
  parse(answer: SellerResponse, request: PurchaseRequest): ParsedPaymentRequired
  /** @throws AppError `purchase/payee` if this host was paid at another payee before, `budget/exceeded` */
  assertBudgets(choice: ChosenOffer, host: string, amount: number): void
  /**
   * Asserts that the Permit2 allowance covers the payment. The owner grants it once by a transaction.
   * @throws AppError `purchase/allowance`
   */
  assertAllowance(choice: ChosenOffer): Promise<void>
}

export type DemandOptions = {
  budgets: Pick<PaymentBudgets, 'refusal'>
  payees: Pick<PaymentBudgetRepository, 'findPayee'>
  isOwnService: (url: string) => boolean
  /** Whether the wallet has an account on Solana. */
  hasSolana: () => boolean
  /**
   * Returns the Permit2 allowance of the paying account on this network, in atomic units of USDC; undefined if unknown.
   */
  permitAllowance: (network: string) => Promise<bigint | undefined>
}

export function createPaymentRequirementsReader(options: DemandOptions): PaymentRequirementsReader {
  const { budgets, payees, isOwnService, hasSolana, permitAllowance } = options
  return {
    async requestUnpaid({ seller, request, via }, signal) {
      const answer = await seller.ask(request, signal)
      if (via === 'public' || answer.status === 402 || answer.status < 400) return answer
      throw toServiceError(answer.status, parseJsonOrUndefined(answer.body.toString('utf8')))
    },
    parse: (answer, { url }) =>
      parsePaymentRequired(answer, { isOwnService: isOwnService(url), hasSolana: hasSolana() }),
    assertBudgets({ chosen }, host, amount) {
      const { network, pay_to } = chosen.offer
      const payTo = normalizeAddress(pay_to)
      const earlierPayee = payees.findPayee(host, network)
      if (earlierPayee !== undefined && earlierPayee !== payTo) {
        throw new AppError('purchase/payee', `The payee of ${host} changed from ${earlierPayee} to ${pay_to}.`)
      }
      const use = { host, scope: `${network}:${payTo}`, amountMicroUsd: BigInt(amount), by: 'person' } as const
      const refusal = budgets.refusal(use)
      if (refusal?.effect === 'deny') throw new AppError('budget/exceeded', `Not paid: ${refusal.detail}`)
    },
    async assertAllowance({ chosen: { facilitator, offer, network } }) {
      if (facilitator === undefined) return
      const allowance = await permitAllowance(offer.network)
      if (allowance !== undefined && allowance >= BigInt(offer.amount)) return
      const networkName = network?.name ?? offer.network
      throw new AppError(
        'purchase/allowance',
        allowance === undefined
          ? `Steward could not check on ${networkName} whether Permit2 may move your USDC, which “upto” needs.`
          : `Your account has not allowed Permit2 to move ${formatTokenAmount(BigInt(offer.amount), usdcDecimals)} USDC on ${networkName}, which “upto” needs.`,
      )
    },
  }
}
