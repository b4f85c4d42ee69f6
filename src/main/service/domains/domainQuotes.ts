import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import type { Store } from '#storage/store.ts'
import type { Domains } from './domains.ts'
import type { DomainQuote, QuoteRepository, QuoteRequest } from './quoteRepository.ts'
import { mapRegistrarErrors } from './registrarErrors.ts'
import type { Registrar } from './registrars/registrar.ts'

/**
 * Quotes with a fixed price for a limited time, regardless of later changes to the registrar's price list. Orders
 * require a quote.
 */
export type DomainQuotes = {
  /** @throws AppError `domain/taken`, `domain/registrar`, `domain/not-found` */
  make(accountId: AccountId, quoteKey: QuoteRequest): Promise<DomainQuote>
  /**
   * Returns the current price of an order: that of the named quote or, while valid, of the quote in the previous 402
   * response.
   * @throws AppError `domain/quote` if the named quote expired, is for another order, or the price rose; otherwise as
   * `make`
   */
  resolve(accountId: AccountId, quoteKey: QuoteRequest, quoteId: string | undefined): Promise<DomainQuote>
}

const holdsMs = 15 * 60_000

export function createDomainQuotes(options: {
  store: Store
  records: QuoteRepository
  domains: Pick<Domains, 'requireOwned'>
  registrar: Pick<Registrar, 'check' | 'renewalPrice'>
  now: () => number
}): DomainQuotes {
  const { store, records, domains, registrar, now } = options

  const forRegistration = async (name: string) => {
    const [offer] = await mapRegistrarErrors(registrar.check([name]))
    if (offer?.status === 'taken') throw new AppError('domain/taken', `${name} is taken.`)
    if (offer?.status !== 'available') {
      throw new AppError('domain/registrar', `The registrar did not report whether ${name} is available.`)
    }
    if (!offer.price) throw createNoPriceError(name)
    return { ...offer.price, premium: offer.premium }
  }
  const forRenewal = async (name: string) => {
    const listed = await mapRegistrarErrors(registrar.renewalPrice(name))
    if (listed === null) throw createNoPriceError(name)
    // A price list by top-level domain excludes premium names, which cost the premium price every year.
    const premium = await records.findPremiumRenewal(store.read, name)
    const renewal = Math.max(listed, premium ?? 0)
    return { registration: renewal, renewal, premium: premium !== undefined }
  }
  const fetchQuote = async (accountId: AccountId, { domain, type, years }: QuoteRequest): Promise<DomainQuote> => {
    if (type === 'renewal') await domains.requireOwned(accountId, domain)
    const { registration, renewal, premium } = await (type === 'renewal' ? forRenewal(domain) : forRegistration(domain))
    const createdAtMs = now()
    return {
      ...{ id: `quo_${randomBytes(12).toString('hex')}`, accountId, domain, type, years, premium },
      ...{ registrationCents: registration, renewalCents: renewal, amountCents: registration + renewal * (years - 1) },
      ...{ createdAtMs, expiresAtMs: createdAtMs + holdsMs },
    }
  }
  const storeQuote = async (quote: DomainQuote): Promise<DomainQuote> => {
    const nowMs = now()
    await store.write(async (tx) => {
      await records.removeEnded(tx, nowMs)
      await records.add(tx, quote)
    })
    return quote
  }

  return {
    make: async (accountId, quoteKey) => storeQuote(await fetchQuote(accountId, quoteKey)),
    async resolve(accountId, quoteKey, quoteId) {
      const before = await (quoteId === undefined
        ? records.findNewest(store.read, accountId, quoteKey)
        : records.find(store.read, accountId, quoteId))
      const isOver = !before || before.expiresAtMs <= now()
      if (quoteId !== undefined) {
        if (isOver) throw new AppError('domain/quote', 'Quote not found or expired.')
        if (!isFor(before, quoteKey)) throw new AppError('domain/quote', 'This quote is for something else.')
      }
      const present = await fetchQuote(accountId, quoteKey)
      if (!isOver && !isMoreExpensive(present, before)) return before
      if (quoteId === undefined) return storeQuote(present)
      throw new AppError(
        'domain/quote',
        `${quoteKey.domain} now costs ${formatDollars(present)}, but the quote says ${formatDollars(before)}.`,
      )
    },
  }
}

function isFor(quote: DomainQuote | undefined, { domain, type, years }: QuoteRequest): boolean {
  return quote?.domain === domain && quote.type === type && quote.years === years
}

function isMoreExpensive(present: DomainQuote, before: DomainQuote | undefined): boolean {
  return (
    before === undefined ||
    present.registrationCents > before.registrationCents ||
    present.renewalCents > before.renewalCents
  )
}

function formatDollars(quote: DomainQuote | undefined): string {
  return formatUsdCents(quote?.amountCents ?? 0)
}

function createNoPriceError(name: string): AppError {
  return new AppError('domain/registrar', `The registrar did not report the price of ${name}.`)
}
