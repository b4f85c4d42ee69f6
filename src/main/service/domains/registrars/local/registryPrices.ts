import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import type { TldPrice } from '../registrar.ts'

const Cents = z.int().min(0).max(100_000_000)
const PriceFile = z.strictObject({
  about: z.string(),
  tlds: z.record(
    z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/),
    z.strictObject({ registration: Cents, renewal: Cents, transfer: Cents }),
  ),
})

/** @throws AppError `config/invalid` that describes the error in the file */
export function readRegistryPrices(file: string): TldPrice[] {
  try {
    const { tlds } = PriceFile.parse(parseJson(readFileSync(file, 'utf8')))
    return Object.entries(tlds).map(([tld, price]) => ({ tld, ...price }))
  } catch (cause) {
    throw createInvalidPriceError(file, cause)
  }
}

function createInvalidPriceError(file: string, cause: unknown): AppError {
  const [issue] = cause instanceof z.ZodError ? cause.issues : []
  const reason = issue ? `\`${issue.path.join('.')}\` ${issue.message}` : String(cause)
  return new AppError('config/invalid', `The price file ${file} is not valid: ${reason}.`, { cause })
}
