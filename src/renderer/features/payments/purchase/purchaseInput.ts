import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import type { quotePurchase } from '#shared/contract/localPurchases.ts'
import type { Input } from '#shared/contract/route.ts'

/** Choices of an order. An empty list of name servers means the registrar's own. */
export type PurchaseChoices = {
  years: number
  privacy: boolean
  nameservers: readonly string[]
  /** Sandbox that a new domain points to. */
  sandbox?: { id: string; port: number }
}

export const defaultChoices: PurchaseChoices = { years: 1, privacy: true, nameservers: [] }

/** Builds the request, for the quote and for the order. */
export function toPurchaseInput(
  order: PurchaseOrder,
  { years, privacy, nameservers, sandbox }: PurchaseChoices,
): Input<typeof quotePurchase> {
  if (order.kind === 'topup') return { topup: { amount_usd: order.amountUsd } }
  const { domain } = order
  if (order.kind === 'renewal') return { renewal: { domain, years } }
  return {
    registration: {
      ...{ domain, years, privacy },
      ...(nameservers.length > 0 && { nameservers: [...nameservers] }),
      ...(sandbox && { sandbox_id: sandbox.id, sandbox_port: sandbox.port }),
    },
  }
}

export function orderTitle(order: PurchaseOrder): string {
  if (order.kind === 'topup') return 'Top up credits'
  return order.kind === 'renewal' ? `Renew ${order.unicode}` : `Register ${order.unicode}`
}

export function formatYears(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}

/** The day until which it is paid when it is renewed for so long. */
export function addYears(expiresAt: string, years: number): string {
  const until = new Date(expiresAt)
  until.setUTCFullYear(until.getUTCFullYear() + years)
  return until.toISOString().slice(0, 10)
}
