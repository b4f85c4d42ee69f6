import { formatUsd } from '#shared/money/moneyText.ts'

/** Formats a cost, with four decimals below one dollar: `$0.0042`, `$12.34`, `<$0.0001`. */
export function formatCost(microUsd: number): string {
  const amount = Math.abs(microUsd)
  const sign = microUsd < 0 ? '−' : ''
  if (amount > 0 && amount < 100) return `${sign}<$0.0001`
  if (amount >= 1_000_000) return formatUsd(microUsd, 'cents')
  return formatUsd(Math.sign(microUsd) * Math.round(amount / 100) * 100, 'exact')
}

/** Rounds to one significant digit, or to cents from one cent: `$0.004`, `$0.23`. */
export function formatRoughCost(microUsd: number): string {
  if (microUsd >= 10_000) return formatUsd(microUsd, 'cents')
  return formatCost(microUsd < 100 ? microUsd : Number(microUsd.toPrecision(1)))
}

/** Formats a number of tokens: `12,345`, or `1.2M` from one million. */
export function formatTokens(count: number): string {
  if (count < 1_000_000) return count.toLocaleString('en')
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

/** Formats a context size, such as `200K` or `1M`. */
export function formatContext(count: number): string {
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
  return count >= 1_000 ? `${Math.round(count / 1_000)}K` : String(count)
}

/** Formats the price of a million tokens: `$3`, `$0.15`, `free`. */
export function formatPrice(perMillion: number): string {
  return perMillion === 0 ? 'free' : formatUsd(perMillion * 1_000_000, 'whole')
}
