import { AppError } from '../../../shared/appError.ts'
import { registerDomain, renewDomain } from '../../../shared/contract/domains.ts'
import type { AccountId } from '../../../shared/ids.ts'
import { microUsdOfCents } from '../../../shared/microUsd.ts'
import { isoTime } from '../../../shared/time.ts'
import { UnclearWork } from '../../platform/http/unclearWork.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { AnyCall, Endpoint } from '../endpoint.ts'
import type { Paid } from '../payments/sale.ts'
import type { Till } from '../payments/till.ts'
import { domainName } from './domainName.ts'
import type { DomainOrders, Ordered } from './domainOrders.ts'
import type { Domains } from './domains.ts'
import { told } from './registrarErrors.ts'
import type { Availability, Registrar } from './registrars/registrar.ts'

type Renewal = { domain: string; years: number; amountCents: number }
type Registration = Renewal & { privacy: boolean; nameservers: string[] | null }

const guarded: Endpoint['access'] = { kind: 'guarded', linkMayUse: false }

/** Domains for USDC. The price of the offer is the one that is ordered for, however the price list changes meanwhile. */
export function domainSales(options: {
  till: Till
  registrar: Registrar
  domains: Pick<Domains, 'owned'>
  orders: DomainOrders
  noteAccount: ActivityLog['noteAccount']
}): Endpoint[] {
  const { till, registrar, domains, orders, noteAccount } = options

  const checked = async (name: string): Promise<Availability> => {
    const [found] = await told(registrar.check([name]))
    if (found?.price) return found
    throw new AppError('domain/registrar', `The registrar does not say what ${name} costs.`)
  }
  const recovered = async <P extends Renewal>({ id, purchase }: Paid<P>) => {
    const ordered = await orders.outcome(id)
    return ordered && boughtOf(ordered, purchase)
  }

  return [
    till.sell<typeof registerDomain, Registration>(registerDomain, guarded, {
      account: (_, call) => accountOf(call),
      async quote({ body: { domain, years, privacy, nameservers } }) {
        const name = domainName(domain).ascii
        const { status, price } = await checked(name)
        if (status === 'taken') throw new AppError('domain/taken', `${name} is taken.`)
        if (status !== 'available' || !price) {
          throw new AppError('domain/registrar', `The registrar does not say whether ${name} is available.`)
        }
        const amountCents = price.registration + price.renewal * (years - 1)
        return {
          amount: microUsdOfCents(amountCents),
          description: `${name} for ${yearsText(years)}`,
          purchase: { domain: name, years, amountCents, privacy, nameservers: nameservers ?? null },
        }
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
        return boughtOf(ordered, purchase)
      },
      recover: recovered,
    }),
    till.sell<typeof renewDomain, Renewal>(renewDomain, guarded, {
      account: (_, call) => accountOf(call),
      async quote({ params: { domain }, body: { years } }, call) {
        domains.owned(accountOf(call), domain)
        const { price } = await checked(domain)
        const amountCents = (price?.renewal ?? 0) * years
        return {
          amount: microUsdOfCents(amountCents),
          description: `Renewal of ${domain} for ${yearsText(years)}`,
          purchase: { domain, years, amountCents },
        }
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

function boughtOf({ orderId, domain }: Ordered, { years }: Renewal) {
  return {
    ...{ success: true as const, domain: domain.name, status: domain.status, years },
    ...{ expires_at: isoTime(domain.expiresAtMs), transaction_id: orderId, transactionId: orderId },
    ...{ nameservers: [...domain.nameservers], privacy: domain.privacy },
  }
}

function yearsText(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}
