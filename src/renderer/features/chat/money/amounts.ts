/** Amounts of a chat, which are often parts of a cent: `$0.0042`, `$12.34`, `<$0.0001`. */
export function dollars(microUsd: number): string {
  if (microUsd === 0) return '$0.00'
  const sign = microUsd < 0 ? '−' : ''
  const amount = Math.abs(microUsd)
  if (amount < 100) return `${sign}<$0.0001`
  if (amount < 1_000_000) return `${sign}$${(amount / 1_000_000).toFixed(4).replace(/0{1,2}$/, '')}`
  const [whole = '0', cents = '00'] = (amount / 1_000_000).toFixed(2).split('.')
  return `${sign}$${Number(whole).toLocaleString('en')}.${cents}`
}

/** Rounds to one significant digit, or to cents from one cent on: `$0.004`, `$0.23`. */
export function roundedDollars(microUsd: number): string {
  if (microUsd >= 10_000) return dollars(Math.round(microUsd / 10_000) * 10_000)
  return dollars(microUsd < 100 ? microUsd : Number(microUsd.toPrecision(1)))
}

/** `12,345`, and from a million on `1.2M`. */
export function tokens(count: number): string {
  if (count < 1_000_000) return count.toLocaleString('en')
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
}

/** Of a context: `200K`, `1M`. */
export function contextText(count: number): string {
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`
  return count >= 1_000 ? `${Math.round(count / 1_000)}K` : String(count)
}

/** Of a million tokens, in dollars: `$3`, `$0.15`, `free`. */
export function priceText(perMillion: number): string {
  if (perMillion === 0) return 'free'
  if (Number.isInteger(perMillion)) return `$${perMillion}`
  return `$${perMillion < 0.1 ? Number(perMillion.toFixed(4)) : perMillion.toFixed(2)}`
}
