import { AppError } from '../../../shared/appError.ts'
import type { AccountId } from '../../../shared/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { DomainRow } from './domainRepository.ts'
import type { Domains } from './domains.ts'
import type { Order, OrderRepository } from './orderRepository.ts'
import { toAppError } from './registrarErrors.ts'
import { type Registrar, RegistrarFailure } from './registrars/registrar.ts'

export type RegisterOrder = {
  accountId: AccountId
  domain: string
  years: number
  amountCents: number
  privacy: boolean
  nameservers: readonly string[] | undefined
}
export type RenewOrder = Pick<RegisterOrder, 'accountId' | 'domain' | 'years' | 'amountCents'>
export type Ordered = { orderId: string; domain: DomainRow }

/**
 * Buys names at the registrar, which takes money for each call: a row is written before it is asked, and an order whose
 * outcome is not known is cleared up by asking for the domain, never by ordering it again.
 */
export type DomainOrders = {
  /** @throws AppError `domain/busy`, `domain/taken`, `domain/state`, `domain/registrar`: nothing was bought; `domain/unclear`: it may have been */
  register(order: RegisterOrder): Promise<Ordered>
  /** Likewise. @throws AppError `domain/not-found` */
  renew(order: RenewOrder): Promise<Ordered>
  list(accountId: AccountId): Order[]
  /** Clears up what was under way when the process before ended, as far as the registrar answers. @returns what is still unclear */
  recover(): Promise<Order[]>
}

const mostListed = 1_000

export function domainOrders(options: {
  records: OrderRepository
  domains: Pick<Domains, 'owned' | 'refresh'>
  registrar: Registrar
  newId: () => string
  now: () => number
  log: Log
}): DomainOrders {
  const { records, domains, registrar, newId, now, log } = options

  /** @returns undefined where the registrar does not say */
  const isDone = async ({ domain, type, expiresBeforeMs, createdAtMs }: Order): Promise<boolean | undefined> => {
    try {
      const found = await registrar.find(domain)
      if (!found) return false
      // Another account of this service, or an earlier order, may have registered it before.
      if (type === 'registration') return found.registeredAtMs >= createdAtMs - clockSkewMs
      return found.expiresAtMs > (expiresBeforeMs ?? 0)
    } catch (failure) {
      log.warn('what became of an order is not known yet', { domain, failure })
      return undefined
    }
  }
  const ordered = async (order: Order, ask: () => Promise<void>): Promise<Ordered> => {
    if (!records.add(order)) {
      throw new AppError('domain/busy', `An order of ${order.domain} is under way already.`)
    }
    records.setState(order.id, 'asked')
    try {
      await ask()
    } catch (failure) {
      const isUnclear = !(failure instanceof RegistrarFailure) || failure.kind === 'unclear'
      const done = isUnclear ? await isDone(order) : false
      if (done === undefined) throw unclear(order)
      if (!done) {
        records.setState(order.id, 'failed')
        throw toAppError(failure)
      }
    }
    const domain = await domains.refresh({ accountId: order.accountId, name: order.domain }).catch(() => undefined)
    if (!domain) throw unclear(order)
    records.setState(order.id, 'done')
    return { orderId: order.id, domain }
  }
  const opened = (given: Pick<Order, 'accountId' | 'domain' | 'type' | 'years' | 'amountCents'>): Order => ({
    ...given,
    id: newId(),
    expiresBeforeMs: null,
    state: 'leased',
    createdAtMs: now(),
  })

  return {
    register({ privacy, nameservers, ...given }) {
      const { domain: name, years } = given
      return ordered(opened({ ...given, type: 'registration' }), () =>
        registrar.register({ name, years, privacy, nameservers }),
      )
    },
    async renew(given) {
      const { expiresAtMs } = domains.owned(given.accountId, given.domain)
      const order = { ...opened({ ...given, type: 'renewal' }), expiresBeforeMs: expiresAtMs }
      return await ordered(order, () => registrar.renew(given.domain, given.years))
    },
    list: (accountId) => records.list(accountId, mostListed),
    async recover() {
      const left: Order[] = []
      for (const order of records.open()) {
        const done = order.state === 'leased' ? false : await isDone(order)
        const known =
          done === true &&
          (await domains.refresh({ accountId: order.accountId, name: order.domain }).catch(() => undefined))
        if (done === undefined || (done && !known)) left.push(order)
        else records.setState(order.id, done ? 'done' : 'failed')
      }
      return left
    },
  }
}

/** The clock of the registrar may be behind ours. */
const clockSkewMs = 10 * 60_000

function unclear({ domain }: Order): AppError {
  return new AppError('domain/unclear', `The registrar did not say what became of the order of ${domain}.`)
}
