import { UnknownOutcomeError } from '#platform/http/unknownOutcomeError.ts'
import { AppError } from '#shared/appError.ts'
import { registerDomain, renewDomain } from '#shared/contract/domainOrders.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { type AccountId, SandboxId } from '#shared/ids.ts'
import { centsToMicroUsd } from '#shared/microUsd.ts'
import { toIsoTime } from '#shared/time.ts'
import type { AnyCall, Endpoint } from '../base/endpoint.ts'
import type { PaymentGate } from '../payments/paymentGate.ts'
import type { Paid, SoldResource } from '../payments/sale.ts'
import { requireDomainField } from './domainName.ts'
import { createBusyError, type DomainOrders, formatYears, type OrderResult } from './domainOrders.ts'
import type { DomainQuotes } from './domainQuotes.ts'
import type { PointedDomain, PointTarget } from './linkDomain.ts'
import type { NamePrice } from './registrars/registrar.ts'

type Body = Parsed<typeof registerDomain>['body']
type Order = { domain: string; years: number; amountCents: number }
type Renewal = Order & { ifExpiresAtMs?: number | undefined }
type Registration = Order & {
  privacy: boolean
  nameservers: string[] | null
  price: NamePrice
  target: PointTarget | null
}

const guarded: Endpoint['access'] = { kind: 'guarded', linkMayUse: false }

/** Sells domains for USDC. The order uses the price of the offer, even if the price list changes in the meantime. */
export function createDomainSales(options: {
  paymentGate: PaymentGate
  quotes: Pick<DomainQuotes, 'resolve'>
  orders: DomainOrders
  /** @throws AppError if the service's payment method cannot buy names */
  assertSaleEnabled: () => void
  /** Whether discovery lists the offer. */
  isOffered: boolean
  pointing: PointedDomain
}): Endpoint[] {
  const { paymentGate, quotes, orders, assertSaleEnabled, isOffered, pointing } = options

  const recoverOrder = async <P extends Order>({ id, purchase }: Paid<P>) => {
    const ordered = await orders.outcome(id)
    return ordered && toPurchase(ordered, purchase)
  }
  const pointDomain = async (accountId: AccountId, { domain, target }: Registration) =>
    target ? { sandbox: await pointing.point(accountId, domain, target) } : {}

  return [
    paymentGate.sell<typeof registerDomain, Registration>(registerDomain, guarded, {
      isOffered,
      account: (_, call) => getAccount(call),
      async quote({ body }, call) {
        assertSaleEnabled()
        const { domain, years, privacy, nameservers, quote_id: quoteId } = body
        const target = toTarget(body)
        if (target && call.caller) await pointing.check(call.caller, target)
        const name = requireDomainField(domain).ascii
        const quote = await quotes.resolve(getAccount(call), { type: 'registration', domain: name, years }, quoteId)
        const { amountCents, registrationCents: registration, renewalCents: renewal } = quote
        const price = { registration, renewal }
        return {
          amount: centsToMicroUsd(amountCents),
          description: `${name} for ${formatYears(years)}`,
          purchase: { domain: name, years, amountCents, privacy, nameservers: nameservers ?? null, price, target },
          resource: toResource(name),
          sandboxId: target ? SandboxId.parse(target.sandboxId) : undefined,
        }
      },
      // Another order may have bought the name between the quote and the lease.
      async assertDeliverable({ domain, target }, call) {
        if (target && call.caller) await pointing.check(call.caller, target)
        await orders.assertRegistrable(domain)
      },
      async fulfil({ id: orderId, accountId, purchase }) {
        const nameservers = purchase.nameservers ?? undefined
        const ordered = await awaitOrder(orders.register({ ...purchase, orderId, accountId, nameservers }))
        return { ...toPurchase(ordered, purchase), ...(await pointDomain(accountId, purchase)) }
      },
      async recover(paid) {
        const bought = await recoverOrder(paid)
        return bought && { ...bought, ...(await pointDomain(paid.accountId, paid.purchase)) }
      },
    }),
    paymentGate.sell<typeof renewDomain, Renewal>(renewDomain, guarded, {
      isOffered,
      account: (_, call) => getAccount(call),
      async quote({ params: { domain }, body: { years, quote_id: quoteId, if_expires_at: expected } }, call) {
        assertSaleEnabled()
        const ifExpiresAtMs = expected === undefined ? undefined : Date.parse(expected)
        if (ifExpiresAtMs !== undefined) await orders.checkExpiry(getAccount(call), domain, ifExpiresAtMs)
        const { amountCents } = await quotes.resolve(getAccount(call), { type: 'renewal', domain, years }, quoteId)
        await orders.assertRenewable({ accountId: getAccount(call), domain, years })
        return {
          amount: centsToMicroUsd(amountCents),
          description: `Renewal of ${domain} for ${formatYears(years)}`,
          purchase: { domain, years, amountCents, ...(ifExpiresAtMs !== undefined && { ifExpiresAtMs }) },
          resource: toResource(domain),
        }
      },
      async assertDeliverable({ domain, years, ifExpiresAtMs }, call) {
        const accountId = getAccount(call)
        await orders.assertRenewable({ accountId, domain, years })
        if (ifExpiresAtMs !== undefined) await orders.checkExpiry(accountId, domain, ifExpiresAtMs)
      },
      async fulfil({ id: orderId, accountId, purchase }) {
        return toPurchase(await awaitOrder(orders.renew({ ...purchase, orderId, accountId })), purchase)
      },
      recover: recoverOrder,
    }),
  ]
}

function toResource(domain: string): SoldResource {
  return { name: `domain:${domain}`, busyError: () => createBusyError(domain) }
}

/** @throws AppError `request/invalid` */
function toTarget({ sandbox_id: sandboxId, sandbox_port: port, nameservers }: Body): PointTarget | null {
  if (sandboxId === undefined && port === undefined) return null
  if (sandboxId === undefined || port === undefined) {
    throw new AppError('request/invalid', '`sandbox_id` and `sandbox_port` must be set together.')
  }
  if (nameservers) {
    throw new AppError(
      'request/invalid',
      '`nameservers` must not be set with `sandbox_id`: the registrar has to serve the DNS.',
    )
  }
  return { sandboxId, port }
}

function getAccount({ caller }: AnyCall): AccountId {
  if (caller) return caller.accountId
  throw new AppError('auth/required', 'An API key is required.')
}

/** The payer is not credited for an order that may have succeeded. */
async function awaitOrder(work: Promise<OrderResult>): Promise<OrderResult> {
  try {
    return await work
  } catch (error) {
    throw error instanceof AppError && error.code === 'order/unknown-outcome' ? new UnknownOutcomeError(error) : error
  }
}

function toPurchase({ orderId, domain }: OrderResult, { years }: Order) {
  return {
    ...{ success: true as const, domain: domain.name, status: domain.status, years },
    ...{ expires_at: toIsoTime(domain.expiresAtMs), transaction_id: orderId, transactionId: orderId },
    ...{ nameservers: [...domain.nameservers], privacy: domain.privacy },
  }
}
