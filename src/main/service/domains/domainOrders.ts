import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Store, WriteOptions } from '#storage/store.ts'
import type { AccountEntry } from '../activity/recordedWrite.ts'
import type { DomainRow } from './domainRepository.ts'
import type { Domains } from './domains.ts'
import { type Order, type OrderState, orderRepository } from './orderRepository.ts'
import { mapRegistrarErrors, toAppError } from './registrarErrors.ts'
import { type NamePrice, type Registrar, RegistrarError } from './registrars/registrar.ts'

export type RegisterOrder = {
  /** Chosen by the caller. Orders with the same id are placed once. */
  orderId: string
  accountId: AccountId
  domain: string
  years: number
  amountCents: number
  privacy: boolean
  nameservers: readonly string[] | undefined
  /** Offered price. */
  price: NamePrice
}
type PlainOrder = Pick<RegisterOrder, 'orderId' | 'accountId' | 'domain' | 'years' | 'amountCents'>
export type RenewOrder = PlainOrder & {
  /** Current expiry that the domain must have, otherwise the order is not placed. */
  ifExpiresAtMs?: number | undefined
}
export type OrderResult = { orderId: string; domain: DomainRow }

/**
 * Buys names at the registrar, which charges for each call. A row is written before each call. An order with an unknown
 * outcome is resolved by looking up the domain, never by ordering again.
 */
export type DomainOrders = {
  /**
   * @throws AppError `domain/busy`, `domain/taken`, `domain/state`, `domain/registrar`: nothing was bought
   * @throws AppError `order/unknown-outcome`: the domain may have been bought
   */
  register(order: RegisterOrder): Promise<OrderResult>
  /**
   * Checks with the registrar. Call it before payment.
   * @throws AppError `domain/busy`, `domain/taken`, `domain/registrar`
   */
  assertRegistrable(domain: string): Promise<void>
  /**
   * Checks without the registrar. Call it before payment.
   * @throws AppError `domain/busy`, `domain/not-found`, `domain/state`
   */
  assertRenewable(order: Pick<RenewOrder, 'accountId' | 'domain' | 'years'>): Promise<void>
  /**
   * Checks the expiry with the registrar.
   * @throws AppError `domain/renewed` if it differs, `domain/not-found`, `domain/registrar`
   */
  checkExpiry(accountId: AccountId, domain: string, expiresAtMs: number): Promise<void>
  /** @throws AppError as `register`, and `domain/not-found`, `domain/renewed` */
  renew(order: RenewOrder): Promise<OrderResult>
  list(accountId: AccountId): Promise<Order[]>
  /**
   * Returns the outcome of an abandoned order.
   * @returns undefined if nothing was bought and never will be
   * @throws AppError `order/unknown-outcome` while the registrar does not report it
   */
  outcome(orderId: string): Promise<OrderResult | undefined>
  /**
   * Resolves orders that were in progress when the previous process ended, as far as the registrar responds.
   * @returns the orders that are still unresolved
   */
  recover(): Promise<Order[]>
}

const maxListed = 1_000
/** Registries reject registrations that end later. */
const maxYearsAhead = 10

type DomainOrderOptions = {
  store: Store
  domains: Pick<Domains, 'requireOwned' | 'refresh' | 'acquire'>
  registrar: Registrar
  /** Called once for each successful order, including orders resolved by a later process. */
  onDone?: (order: Order) => void
  now: () => number
  log: Log
}

export function createDomainOrders(options: DomainOrderOptions): DomainOrders {
  const { store, domains, registrar, now } = options
  const { isDone, resolveOrder, finishOrder, changeState } = createOrderOutcomes(options)

  /** @param prepare ensures that the outcome can be determined later, or rejects before the order is placed */
  const placeOrder = async (
    order: Order,
    prepare: () => Promise<void>,
    ask: () => Promise<void>,
  ): Promise<OrderResult> => {
    if (!(await store.write((tx) => orderRepository.add(tx, order)))) throw createBusyError(order.domain)
    try {
      await prepare()
    } catch (error) {
      await changeState(order, { from: 'leased', to: 'failed' })
      throw toAppError(error)
    }
    // Must survive a power loss before the registrar charges. Otherwise recovery would treat the order as never placed.
    if (!(await changeState(order, { from: 'leased', to: 'asked' }, { isDurable: true }))) {
      throw createBusyError(order.domain) // another process took the order for abandoned
    }
    try {
      await ask()
    } catch (error) {
      const isUnclear = !(error instanceof RegistrarError) || error.kind === 'unclear'
      const done = isUnclear ? await isDone(order) : false
      if (done === undefined) throw createUnknownOrderError(order)
      if (!done) {
        await changeState(order, { from: 'asked', to: 'failed' })
        throw toAppError(error)
      }
    }
    return { orderId: order.id, domain: await finishOrder(order) }
  }
  const createOrder = ({ orderId: id, ...fields }: PlainOrder & Pick<Order, 'type' | 'expiresBeforeMs'>): Order => ({
    ...fields,
    id,
    state: 'leased',
    createdAtMs: now(),
    registrar: registrar.id,
  })

  const assertFree = async (domain: string): Promise<void> => {
    const open = await orderRepository.listOpen(store.read, registrar.id)
    if (open.some((order) => order.domain === domain)) throw createBusyError(domain)
  }

  return {
    async assertRegistrable(domain) {
      await assertFree(domain)
      if (await mapRegistrarErrors(registrar.find(domain))) throw new AppError('domain/taken', `${domain} is taken.`)
    },
    async assertRenewable({ accountId, domain, years }) {
      await assertFree(domain)
      const { expiresAtMs } = await domains.requireOwned(accountId, domain)
      if (addYears(Math.max(expiresAtMs, now()), years) <= addYears(now(), maxYearsAhead)) return
      throw new AppError('domain/state', `${domain} can be renewed for at most ${maxYearsAhead} years from now.`)
    },
    register({ privacy, nameservers, price, ...fields }) {
      const { domain: name, years } = fields
      return placeOrder(
        createOrder({ ...fields, type: 'registration', expiresBeforeMs: null }),
        async () => {
          if (await registrar.find(name)) throw new RegistrarError('taken', `${name} is taken.`)
        },
        () => registrar.register({ name, years, privacy, nameservers, price }),
      )
    },
    async checkExpiry(accountId, name, expected) {
      await domains.requireOwned(accountId, name)
      const { expiresAtMs } = await domains.refresh({ accountId, name })
      assertExpiry(name, { expiresAtMs, expected })
    },
    async renew({ ifExpiresAtMs, ...fields }) {
      const { accountId, domain: name, years, amountCents } = fields
      await domains.requireOwned(accountId, name)
      // The domain may have been renewed elsewhere. With the stored expiry, recovery would attribute that renewal to
      // this order.
      const { expiresAtMs } = await domains.refresh({ accountId, name })
      assertExpiry(name, { expiresAtMs, expected: ifExpiresAtMs })
      return placeOrder(
        createOrder({ ...fields, type: 'renewal', expiresBeforeMs: expiresAtMs }),
        async () => {},
        () => registrar.renew({ name, years, amountCents }),
      )
    },
    list: (accountId) => orderRepository.list(store.read, accountId, maxListed),
    async outcome(orderId) {
      const order = await orderRepository.find(store.read, orderId)
      if (!order || order.state === 'failed') return undefined
      // only the order's own registrar can report its outcome
      if (order.registrar !== registrar.id) throw createUnknownOrderError(order)
      const domain =
        order.state === 'done' ? await domains.requireOwned(order.accountId, order.domain) : await resolveOrder(order)
      return domain && { orderId, domain }
    },
    async recover() {
      const unfinished: Order[] = []
      for (const order of await orderRepository.listOpen(store.read, registrar.id)) {
        await resolveOrder(order).catch(() => unfinished.push(order))
      }
      return unfinished
    },
  }
}

/** Determines the outcome of orders by querying the registrar. */
function createOrderOutcomes({ store, domains, registrar, onDone, now, log }: DomainOrderOptions) {
  /** @returns false if the order has another state than `from` */
  const changeState = (
    { id }: Order,
    change: { from: OrderState; to: OrderState },
    options: WriteOptions = {},
  ): Promise<boolean> => store.write((tx) => orderRepository.changeState(tx, id, change), options)
  /** @returns undefined if the registrar does not report an outcome or may still be processing the order */
  const isDone = async ({ domain, type, expiresBeforeMs, createdAtMs }: Order): Promise<boolean | undefined> => {
    try {
      const registered = await registrar.find(domain)
      // The domain did not exist when the order was placed, so this order registered it.
      const done =
        type === 'registration' ? registered !== undefined : (registered?.expiresAtMs ?? 0) > (expiresBeforeMs ?? 0)
      return done || (now() - createdAtMs >= registrar.settlesWithinMs ? false : undefined)
    } catch (error) {
      log.warn('order outcome unknown', { domain, error })
      return undefined
    }
  }
  /** Resolves an order that no process is working on. @throws AppError `order/unknown-outcome` */
  const resolveOrder = async (order: Order): Promise<DomainRow | undefined> => {
    const done = order.state === 'leased' ? false : await isDone(order)
    if (done === undefined) throw createUnknownOrderError(order)
    if (done) return finishOrder(order)
    // The order may have moved on since it was read.
    if (!(await changeState(order, { from: order.state, to: 'failed' }))) throw createUnknownOrderError(order)
    return undefined
  }
  const finishOrder = async (order: Order): Promise<DomainRow> => {
    const { accountId, domain: name, type } = order
    const read = type === 'registration' ? domains.acquire : domains.refresh
    const domain = await read({ accountId, name }).catch(() => undefined)
    if (!domain) throw createUnknownOrderError(order)
    if (await store.write((tx) => orderRepository.complete(tx, order.id))) onDone?.(order)
    return domain
  }

  return { isDone, resolveOrder, finishOrder, changeState }
}

export function createBusyError(domain: string): AppError {
  return new AppError('domain/busy', `Another order for ${domain} is in progress.`, { headers: { 'retry-after': '1' } })
}

function assertExpiry(
  name: string,
  { expiresAtMs, expected = expiresAtMs }: { expiresAtMs: number; expected?: number | undefined },
): void {
  if (expiresAtMs === expected) return
  const day = (ms: number): string => toIsoTime(ms).slice(0, 10)
  throw new AppError('domain/renewed', `${name} now expires on ${day(expiresAtMs)}, not on ${day(expected)}.`)
}

function addYears(ms: number, years: number): number {
  const date = new Date(ms)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

function createUnknownOrderError({ domain }: Order): AppError {
  return new AppError('order/unknown-outcome', `The registrar did not report the outcome of the order for ${domain}.`)
}

/** Describes a successful order for the activity log. */
export function describeOrder({ type, domain, years }: Pick<Order, 'type' | 'domain' | 'years'>): AccountEntry {
  if (type === 'renewal')
    return { type: 'name.renewed', domain, description: `Renewed ${domain} for ${formatYears(years)}` }
  return { type: 'name.registered', domain, description: `Registered ${domain} for ${formatYears(years)}` }
}

export function formatYears(years: number): string {
  return years === 1 ? '1 year' : `${years} years`
}
