import { UnclearWork } from '#platform/http/unclearWork.ts'
import { AppError } from '#shared/appError.ts'
import { registerDomain, renewDomain } from '#shared/contract/domainOrders.ts'
import type { Parsed } from '#shared/contract/route.ts'
import type { AccountId } from '#shared/ids.ts'
import { microUsdOfCents } from '#shared/microUsd.ts'
import { isoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { AnyCall, Endpoint } from '../base/endpoint.ts'
import type { Paid, SoldResource } from '../payments/sale.ts'
import type { Till } from '../payments/till.ts'
import { requireDomainField } from './domainName.ts'
import { createBusyError, type DomainOrders, type Ordered } from './domainOrders.ts'
import type { DomainQuotes } from './domainQuotes.ts'
import type { PointedDomain, PointTarget } from './pointedDomain.ts'
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

/** Domains for USDC. The price of the offer is the one that is ordered for, however the price list changes meanwhile. */
export function domainSales(options: {
  till: Till
  quotes: Pick<DomainQuotes, 'pinned'>
  orders: DomainOrders
  /** @throws AppError where names are not sold for the money that this service takes */
  needSale: () => void
  /** Whether discovery lists the offer. */
  isOffered: boolean
  pointing: PointedDomain
  noteAccount: ActivityLog['noteAccount']
}): Endpoint[] {
  const { till, quotes, orders, needSale, isOffered, pointing, noteAccount } = options

  const recovered = async <P extends Order>({ id, purchase }: Paid<P>) => {
    const ordered = await orders.outcome(id)
    return ordered && boughtOf(ordered, purchase)
  }
  const pointed = async (accountId: AccountId, { domain, target }: Registration) =>
    target ? { sandbox: await pointing.point(accountId, domain, target) } : {}

  return [
    till.sell<typeof registerDomain, Registration>(registerDomain, guarded, {
      isOffered,
      account: (_, call) => accountOf(call),
      async quote({ body }, call) {
        needSale()
        const { domain, years, privacy, nameservers, quote_id: quoteId } = body
        const target = targetOf(body)
        if (target && call.caller) pointing.check(call.caller, target)
        const name = requireDomainField(domain).ascii
        const quote = await quotes.pinned(accountOf(call), { type: 'registration', domain: name, years }, quoteId)
        const { amountCents, registrationCents: registration, renewalCents: renewal } = quote
        const price = { registration, renewal }
        return {
          amount: microUsdOfCents(amountCents),
          description: `${name} for ${yearsText(years)}`,
          purchase: { domain: name, years, amountCents, privacy, nameservers: nameservers ?? null, price, target },
          resource: toResource(name),
        }
      },
      // Another order may have bought the name between the quote and the lease.
      async assertDeliverable({ domain, target }, call) {
        if (target && call.caller) pointing.check(call.caller, target)
        await orders.assertRegistrable(domain)
      },
      async fulfil({ id: orderId, accountId, purchase }) {
        const nameservers = purchase.nameservers ?? undefined
        const ordered = await cleared(orders.register({ ...purchase, orderId, accountId, nameservers }))
        const { domain, years } = purchase
        noteAccount(accountId, {
          type: 'name.registered',
          domain,
          description: `Registered ${domain} for ${yearsText(years)}`,
        })
        return { ...boughtOf(ordered, purchase), ...(await pointed(accountId, purchase)) }
      },
      async recover(paid) {
        const bought = await recovered(paid)
        return bought && { ...bought, ...(await pointed(paid.accountId, paid.purchase)) }
      },
    }),
    till.sell<typeof renewDomain, Renewal>(renewDomain, guarded, {
      isOffered,
      account: (_, call) => accountOf(call),
      async quote({ params: { domain }, body: { years, quote_id: quoteId, if_expires_at: expected } }, call) {
        needSale()
        const ifExpiresAtMs = expected === undefined ? undefined : Date.parse(expected)
        if (ifExpiresAtMs !== undefined) await orders.checkExpiry(accountOf(call), domain, ifExpiresAtMs)
        const { amountCents } = await quotes.pinned(accountOf(call), { type: 'renewal', domain, years }, quoteId)
        orders.assertRenewable({ accountId: accountOf(call), domain, years })
        return {
          amount: microUsdOfCents(amountCents),
          description: `Renewal of ${domain} for ${yearsText(years)}`,
          purchase: { domain, years, amountCents, ...(ifExpiresAtMs !== undefined && { ifExpiresAtMs }) },
          resource: toResource(domain),
        }
      },
      async assertDeliverable({ domain, years, ifExpiresAtMs }, call) {
        const accountId = accountOf(call)
        orders.assertRenewable({ accountId, domain, years })
        if (ifExpiresAtMs !== undefined) await orders.checkExpiry(accountId, domain, ifExpiresAtMs)
      },
      async fulfil({ id: orderId, accountId, purchase }) {
        const ordered = await cleared(orders.renew({ ...purchase, orderId, accountId }))
        const { domain, years } = purchase
        noteAccount(accountId, {
          type: 'name.renewed',
          domain,
          description: `Renewed ${domain} for ${yearsText(years)}`,
        })
        return boughtOf(ordered, purchase)
      },
      recover: recovered,
    }),
  ]
}

function toResource(domain: string): SoldResource {
  return { name: `domain:${domain}`, busyError: () => createBusyError(domain) }
}

/** @throws AppError `request/invalid` */
function targetOf({ sandbox_id: sandboxId, sandbox_port: port, nameservers }: Body): PointTarget | null {
  if (sandboxId === undefined && port === undefined) return null
  if (sandboxId === undefined || port === undefined) {
    throw new AppError('request/invalid', '`sandbox_id` and `sandbox_port` belong together.')
  }
  if (nameservers) {
    throw new AppError(
      'request/invalid',
      '`nameservers` must not be given with `sandbox_id`: the registrar has to serve the DNS.',
    )
  }
  return { sandboxId, port }
}

function accountOf({ caller }: AnyCall): AccountId {
  if (caller) return caller.accountId
  throw new AppError('auth/required', 'An API key is needed.')
}

/** Whoever paid for what may have been bought is not credited for it as well. */
async function cleared(work: Promise<Ordered>): Promise<Ordered> {
  try {
    return await work
  } catch (failure) {
    throw failure instanceof AppError && failure.code === 'domain/unclear' ? new UnclearWork(failure) : failure
  }
}

function boughtOf({ orderId, domain }: Ordered, { years }: Order) {
  return {
    ...{ success: true as const, domain: domain.name, status: domain.status, years },
    ...{ expires_at: isoTime(domain.expiresAtMs), transaction_id: orderId, transactionId: orderId },
    ...{ nameservers: [...domain.nameservers], privacy: domain.privacy },
  }
}

function yearsText(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}
