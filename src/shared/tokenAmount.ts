/**
 * Formats an exact amount for display, with at least two decimals and thousands separators: `1,234.50`, `0.000001`.
 * @param atomic amount in the token's smallest units
 */
export function formatTokenAmount(atomic: bigint, decimals: number): string {
  const digits = String(atomic < 0n ? -atomic : atomic).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(2, '0')
  return `${atomic < 0n ? '-' : ''}${whole}.${fraction}`
}
