import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import type { SandboxPort } from '#renderer/ui/sandboxes/SandboxPortFields.tsx'
import { Nameservers } from '#shared/contract/domains.ts'
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

/** Fields of an order as the user fills them in. */
export type OrderForm = {
  years: number
  privacy: boolean
  /** Text with the name servers; undefined for the registrar's own. */
  hosts: string | undefined
  isPointed: boolean
  target: SandboxPort | undefined
}

export const defaultOrderForm: OrderForm = {
  years: 1,
  privacy: true,
  hosts: undefined,
  isPointed: false,
  target: undefined,
}

export function parseHosts(hosts: string) {
  return Nameservers.safeParse(hosts.split(/[\s,]+/).filter((it) => it !== ''))
}

/** @returns undefined if a choice is missing or invalid */
export function toPurchaseChoices({
  years,
  privacy,
  hosts,
  isPointed,
  target,
}: OrderForm): PurchaseChoices | undefined {
  const nameservers = hosts === undefined ? [] : parseHosts(hosts).data
  if (!nameservers) return undefined
  if (!isPointed) return { years, privacy, nameservers }
  if (target?.port === undefined) return undefined
  return { years, privacy, nameservers, sandbox: { id: target.sandboxId, port: target.port } }
}

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

export function addYears(expiresAt: string, years: number): string {
  const until = new Date(expiresAt)
  until.setUTCFullYear(until.getUTCFullYear() + years)
  return until.toISOString().slice(0, 10)
}
