const maxCents = 100_000_000

/** Converts a price in dollars, a number or its decimal text, to cents. @returns undefined if the price is invalid */
export function toCents(dollars: unknown): number | undefined {
  const isPrice = typeof dollars === 'number' || (typeof dollars === 'string' && /^\d{1,7}(\.\d{1,4})?$/.test(dollars))
  const cents = isPrice ? Math.ceil(Math.round(Number(dollars) * 10_000) / 100) : Number.NaN
  return Number.isSafeInteger(cents) && cents > 0 && cents <= maxCents ? cents : undefined
}
