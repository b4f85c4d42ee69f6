import { AppError } from '#shared/appError.ts'
import { getMe } from '#shared/contract/auth.ts'
import { registerDomain, renewDomain } from '#shared/contract/domainOrders.ts'
import { getDomain } from '#shared/contract/domains.ts'
import type { PaymentPurpose } from '#shared/contract/paymentRecords.ts'
import { buyCredits } from '#shared/contract/payments.ts'
import { purchaseOf } from '#shared/contract/purchaseLabels.ts'
import { buildRequest, type Input, type Route } from '#shared/contract/route.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { type PurchaseRequest, parseUsd } from './paymentPlan.ts'
import type { Seller } from './seller.ts'

export type Purchases = {
  registration(fields: DomainRegistration, priceUsd?: number): PurchaseRequest
  /** Adds the domain's expiry to the request, so that the same term is not paid twice. */
  renewal(fields: Renewal, priceUsd?: number): Promise<PurchaseRequest>
  /** Creates a top-up of the user's account. */
  topUp(amountUsd: number): Promise<PurchaseRequest>
}
export type DomainRegistration = {
  domain: string
  years: number
  privacy: boolean
  nameservers?: string[] | undefined
  /** Sandbox to which the domain points after registration. */
  sandbox_id?: string | undefined
  sandbox_port?: number | undefined
}
export type Renewal = {
  domain: string
  years: number
  /** Rejects the purchase before payment if the domain's expiry has changed. */
  if_expires_at?: string | undefined
}

type Order = {
  purpose: PaymentPurpose
  title: string
  priceUsd: number | undefined
  purchase?: string | undefined
}
type Options = {
  client: Pick<ServiceClient, 'call'>
  seller: Seller
  /** Returns the base URL without trailing slash. @throws AppError while no service is connected */
  serviceUrl: () => string
}

export function createPurchases({ client, seller, serviceUrl }: Options): Purchases {
  const createPurchase = <R extends Route>(
    { route, input }: { route: R; input: Input<R> },
    { purpose, title, priceUsd, purchase }: Order,
  ): PurchaseRequest => {
    const { path, body } = buildRequest(route, input)
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
    return {
      ...{ seller, via: 'service', url: `${serviceUrl()}${path}`, purpose, title, capMicroUsd: null },
      request: { method: route.method, url: path, headers, body },
      ...(purchase !== undefined && { purchase }),
      quote: priceUsd === undefined ? null : { amount_micro_usd: parseUsd('price_usd', priceUsd), source: 'you' },
    }
  }
  /** Returns the expiry, or undefined on an error of the service. The order then fails with the same error. */
  const findExpiry = async (domain: string): Promise<string | undefined> => {
    try {
      return (await client.call(getDomain, { domain })).expires_at
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }
  return {
    registration({ domain, years, privacy, nameservers, sandbox_id, sandbox_port }, priceUsd) {
      const input = {
        ...{ domain, years, privacy },
        ...(nameservers && { nameservers }),
        ...(sandbox_id !== undefined && { sandbox_id }),
        ...(sandbox_port !== undefined && { sandbox_port }),
      }
      const title = `Register ${domain} for ${formatYears(years)}`
      const purchase = purchaseOf.registration(domain)
      return createPurchase(
        { route: registerDomain, input },
        { purpose: 'domain-registration', title, priceUsd, purchase },
      )
    },
    async renewal({ domain, years, if_expires_at: expected }, priceUsd) {
      const expiresAt = expected ?? (await findExpiry(domain))
      const input = { domain, years, ...(expiresAt !== undefined && { if_expires_at: expiresAt }) }
      const title = `Renew ${domain} for ${formatYears(years)}`
      const purchase = expiresAt === undefined ? undefined : purchaseOf.renewal(domain, expiresAt)
      return createPurchase({ route: renewDomain, input }, { purpose: 'domain-renewal', title, priceUsd, purchase })
    },
    async topUp(amountUsd) {
      const { id } = await client.call(getMe, {})
      const input = { amount_usd: String(amountUsd), address: id }
      const title = `Buy $${amountUsd}.00 of credits`
      return createPurchase({ route: buyCredits, input }, { purpose: 'credits', title, priceUsd: amountUsd })
    },
  }
}

function formatYears(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}
