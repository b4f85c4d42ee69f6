const maxDecimals = 6

/** Formats an amount such as `0.0123 ETH`, with at most six decimals. */
export const formatEther = (wei: string): string => formatCoins(wei, 18, 'ETH')
export const formatSol = (lamports: string): string => formatCoins(lamports, 9, 'SOL')

function formatCoins(atomic: string, decimals: number, symbol: string): string {
  const digits = atomic.padStart(decimals + 1, '0')
  const whole = BigInt(digits.slice(0, -decimals)).toLocaleString('en')
  const part = digits.slice(-decimals, maxDecimals - decimals).replace(/0+$/, '')
  if (part !== '') return `${whole}.${part} ${symbol}`
  return whole === '0' && BigInt(atomic) > 0n ? `< 0.000001 ${symbol}` : `${whole} ${symbol}`
}

/** Sums amounts in atomic units. @returns undefined if an amount is unknown */
export function sumAmounts(amounts: readonly (string | null)[] | undefined): string | undefined {
  if (!amounts || amounts.includes(null)) return undefined
  return amounts.reduce((sum, amount) => sum + BigInt(amount ?? 0), 0n).toString()
}
