import { z } from 'zod'
import { errorCatalogue } from '../appError.ts'
import type { ErrorDialect, Route } from './route.ts'

/** Wire code of the error for insufficient credits. */
const insufficientCredits = 'INSUFFICIENT_CREDITS'

const ErrorBody = z.looseObject({
  error: z.string().describe('One sentence that names the invalid value.'),
  code: z.enum([insufficientCredits, ...Object.keys(errorCatalogue)]),
  former_code: z.string().optional().describe('Previous name of `code`, until the next minor version.'),
  detail: z.string().optional(),
  hint: z.string().optional().describe('Action that resolves the error.'),
  details: z
    .looseObject({})
    .optional()
    .describe(`\`required_cents\` and \`current_balance_cents\` for \`${insufficientCredits}\`.`),
})

const OpenAiErrorBody = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    code: z.string().nullable(),
    param: z.string().nullable().describe('Name of the invalid field.'),
  }),
  detail: z.string().optional(),
})

const AnthropicErrorBody = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), message: z.string() }),
  detail: z.string().optional(),
})

const PaymentRequiredBody = z
  .looseObject({
    x402Version: z.int(),
    accepts: z.array(z.looseObject({})).min(1).describe('Accepted payments. Retry the request with one of them.'),
    error: z.string(),
  })
  .describe('Payment requirements in the x402 format: https://docs.x402.org')

/** Error body schemas by their names in OpenAPI documents. */
export const errorBodies = {
  Error: ErrorBody,
  OpenAiError: OpenAiErrorBody,
  AnthropicError: AnthropicErrorBody,
  PaymentRequired: PaymentRequiredBody,
} as const
/** Name of an error format. */
export type ErrorBodyName = keyof typeof errorBodies

const ofDialect: Readonly<Record<ErrorDialect, ErrorBodyName>> = {
  default: 'Error',
  openai: 'OpenAiError',
  anthropic: 'AnthropicError',
}

/** @returns the name of the error body schema for this status */
export function createErrorBody({ errors, sold }: Pick<Route, 'errors' | 'sold'>, status: number): ErrorBodyName {
  return sold && status === 402 ? 'PaymentRequired' : ofDialect[errors]
}
