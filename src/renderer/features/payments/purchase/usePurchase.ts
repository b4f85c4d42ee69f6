import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import type { PaymentCheck } from '#shared/contract/localPayments.ts'
import { buyRegistration, buyRenewal, buyTopUp, quotePurchase } from '#shared/contract/localPurchases.ts'
import type { PaymentOffer } from '#shared/contract/paymentRecords.ts'
import { getWalletInfo } from '#shared/contract/walletInfo.ts'
import { paymentsKey } from '../usePayments.ts'
import { type PurchaseChoices, toPurchaseInput } from './purchaseInput.ts'

/** Reads a quote for the edited choices, debounced. */
export function useDebouncedQuote(order: PurchaseOrder, choices: PurchaseChoices | undefined) {
  const quotedText = useDebounced(JSON.stringify(choices ?? null))
  const quoted: PurchaseChoices | null = JSON.parse(quotedText)
  const quote = useQuote(order, quoted ?? undefined)
  /** Whether the quote matches the current choices. */
  const isCurrent =
    !quote.isPlaceholderData &&
    choices !== undefined &&
    JSON.stringify(toPurchaseInput(order, choices)) === JSON.stringify(quoted && toPurchaseInput(order, quoted))
  return { quote, isCurrent }
}

/** Reads the current price and the policy evaluation. */
function useQuote(order: PurchaseOrder, choices: PurchaseChoices | undefined) {
  const agent = useAgent()
  const input = choices && toPurchaseInput(order, choices)
  return useQuery({
    queryKey: [...paymentsKey, 'quote', input],
    queryFn: ({ signal }) => agent(quotePurchase, input ?? {}, { signal }),
    enabled: input !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
  })
}

export function findOffer(quote: PaymentCheck | undefined): PaymentOffer | undefined {
  return quote?.chosen === null || quote?.chosen === undefined ? undefined : quote.offers[quote.chosen]
}

/** Places an order once. A retry after a lost connection returns the same payment. */
export function useOrder(order: PurchaseOrder, onOrdered: (paymentId: string) => void) {
  const agent = useAgent()
  /** Idempotency keys by order and price. */
  const [keys] = useState(() => new Map<string, string>())
  return useMutation({
    mutationFn: async ({ choices, priceUsd }: { choices: PurchaseChoices; priceUsd: number }) => {
      const { registration, renewal, topup } = toPurchaseInput(order, choices)
      const what = JSON.stringify([registration, renewal, topup, priceUsd])
      const key = keys.get(what) ?? crypto.randomUUID()
      keys.set(what, key)
      const headers = { 'idempotency-key': key }
      const result = registration
        ? await agent(buyRegistration, { ...registration, price_usd: priceUsd }, { headers })
        : renewal
          ? await agent(buyRenewal, { ...renewal, price_usd: priceUsd }, { headers })
          : await agent(buyTopUp, { amount_usd: topup?.amount_usd ?? 0 }, { headers })
      return result.payment
    },
    onSuccess: (payment) => payment && onOrdered(payment.id),
  })
}

export function useWalletInfo(network: string | undefined) {
  const agent = useAgent()
  return useQuery({
    queryKey: [...paymentsKey, 'wallet', network],
    queryFn: ({ signal }) => agent(getWalletInfo, { network: network ?? '' }, { signal }),
    enabled: network !== undefined,
    retry: false,
    staleTime: 0,
  })
}
