const etherDecimals = 18
const shownDecimals = 6

/** `0.0123 ETH`: six digits after the point, and no more. */
export function etherText(wei: string): string {
  const digits = wei.padStart(etherDecimals + 1, '0')
  const whole = BigInt(digits.slice(0, -etherDecimals)).toLocaleString('en')
  const part = digits.slice(-etherDecimals, -etherDecimals + shownDecimals).replace(/0+$/, '')
  if (part !== '') return `${whole}.${part} ETH`
  return whole === '0' && BigInt(wei) > 0n ? '< 0.000001 ETH' : `${whole} ETH`
}

/** Of atomic units. @returns undefined when one of them is not known */
export function sumOf(amounts: readonly (string | null)[] | undefined): string | undefined {
  if (!amounts || amounts.includes(null)) return undefined
  return amounts.reduce((sum, amount) => sum + BigInt(amount ?? 0), 0n).toString()
}
