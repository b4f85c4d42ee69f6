/** Returns the list price for a number of years, or undefined if unknown. Does not consider premium names. */
export function estimateMicroUsd(
  domain: string,
  years: number,
  prices: ReadonlyMap<string, number>,
): number | undefined {
  const labels = domain.split('.')
  for (let index = 1; index < labels.length; index += 1) {
    const usd = prices.get(labels.slice(index).join('.'))
    if (usd !== undefined) return Math.round(usd * 1_000_000) * years
  }
  return undefined
}
