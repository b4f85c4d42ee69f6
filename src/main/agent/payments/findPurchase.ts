import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { registerDomain, renewDomain } from '#shared/contract/domainOrders.ts'
import { purchaseOf } from '#shared/contract/purchaseLabels.ts'
import type { SellerRequest } from './seller.ts'

const registration = new Set<string>([registerDomain.path, ...registerDomain.aliases])

/** Returns the item that a request to Steward's service buys, or undefined if it may be bought repeatedly. */
export function findPurchase({ method, url, body }: SellerRequest): string | undefined {
  const path = URL.parse(url, 'http://service')?.pathname
  if (method !== 'POST' || path === undefined) return undefined
  // validated below
  const fields = parseJsonOrUndefined(body ?? '') as { domain?: unknown; if_expires_at?: unknown } | null | undefined
  if (registration.has(path)) {
    return typeof fields?.domain === 'string' ? purchaseOf.registration(fields.domain) : undefined
  }
  const renewed = [renewDomain.path, ...renewDomain.aliases]
    .map((route) => new RegExp(`^${route.replace(/:\w+/, '([A-Za-z0-9.-]+)')}$`).exec(path)?.[1])
    .find((domain) => domain !== undefined)
  if (renewed === undefined || typeof fields?.if_expires_at !== 'string') return undefined
  return purchaseOf.renewal(renewed, fields.if_expires_at)
}
