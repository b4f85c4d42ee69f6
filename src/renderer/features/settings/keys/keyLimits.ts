import { parseUsd } from '#shared/money/moneyText.ts'

const microUsdPerCent = 10_000n
const maxCents = 100_000_000n

/** `5`, `5.25`; empty is no limit. @returns undefined for what is no amount */
export function limitCents(written: string): number | null | undefined {
  if (written.trim() === '') return null
  const micro = parseUsd(written)
  if (micro === undefined || BigInt(micro) % microUsdPerCent !== 0n) return undefined
  const cents = BigInt(micro) / microUsdPerCent
  return cents > maxCents ? undefined : Number(cents)
}
