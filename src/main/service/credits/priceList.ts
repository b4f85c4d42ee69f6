import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import { PaymentTier, SandboxTier } from '#shared/contract/credits.ts'
import { sandboxLimits } from '#shared/contract/sandboxes.ts'
import { centsToMicroUsd, type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'

export type PriceList = {
  tiers: SandboxTier[]
  paymentTiers: PaymentTier[]
  /** Returns the smallest tier that the sandbox fits in. */
  getTier(size: SandboxSize): SandboxTier
}
export type SandboxSize = { vcpu: number; memoryMb: number; diskGb: number }

const { vcpu, memoryMb, diskGb } = sandboxLimits
const File = z.strictObject({
  sandbox_tiers: z
    .array(SandboxTier)
    .refine(isAscending, 'must be sorted by size, each at least as expensive as the one before')
    .refine(
      (tiers) => tiers.some((tier) => isWithin({ vcpu: vcpu.max, memoryMb: memoryMb.max, diskGb: diskGb.max }, tier)),
      'must end with a tier that fits the largest sandbox',
    ),
  payment_tiers: z
    .array(PaymentTier)
    .min(1)
    .refine(
      (tiers) =>
        tiers.every(({ amount_usd }, index) => index === 0 || amount_usd > (tiers[index - 1]?.amount_usd ?? 0)),
      'must be sorted from small to large',
    ),
})

/** @throws AppError `config/invalid` that describes the error in the file */
export function readPriceList(file: string): PriceList {
  const { sandbox_tiers: tiers, payment_tiers: paymentTiers } = parseFile(file)
  return {
    tiers,
    paymentTiers,
    getTier(size) {
      const tier = tiers.find((it) => isWithin(size, it))
      if (!tier) throw new Error('A sandbox is larger than the largest tier in the price file.')
      return tier
    },
  }
}

const monthMs = 30 * 24 * 60 * 60_000

/** Cost of running for a duration, rounded up to whole micro-dollars. */
export function computeRunningCost({ monthly_cents }: SandboxTier, ms: number): MicroUsd {
  return toMicroUsd(Math.ceil((centsToMicroUsd(monthly_cents) * Math.max(0, ms)) / monthMs))
}

function parseFile(file: string): z.infer<typeof File> {
  try {
    return File.parse(parseJson(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw createInvalidPriceError(file, cause)
  }
}

function createInvalidPriceError(file: string, cause: unknown): AppError {
  const [issue] = cause instanceof z.ZodError ? cause.issues : []
  const reason = issue ? `\`${issue.path.join('.')}\` ${issue.message}` : String(cause)
  return new AppError('config/invalid', `The price file ${file} is not valid: ${reason}.`, { cause })
}

function isWithin(size: SandboxSize, tier: SandboxTier): boolean {
  return size.vcpu <= tier.vcpu && size.memoryMb <= tier.memory_mb && size.diskGb <= tier.disk_gb
}

function isAscending(tiers: readonly SandboxTier[]): boolean {
  return tiers.every((tier, index) => {
    const before = tiers[index - 1]
    if (!before) return true
    const size = { vcpu: before.vcpu, memoryMb: before.memory_mb, diskGb: before.disk_gb }
    return isWithin(size, tier) && before.monthly_cents <= tier.monthly_cents
  })
}
