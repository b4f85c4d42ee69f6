/** The list price for so many years; undefined: not known. Without knowledge of premium names. */
export function estimateMicroUsd(
  domain: string,
  years: number,
  prices: ReadonlyMap<string, number>,
): number | undefined {
  const labels = domain.split('.')
  for (let at = 1; at < labels.length; at += 1) {
    const usd = prices.get(labels.slice(at).join('.'))
    if (usd !== undefined) return Math.round(usd * 1_000_000) * years
  }
  return undefined
}
