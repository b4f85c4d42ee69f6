import { z } from 'zod'

/**
 * Name of the x402 extension with which a client identifies its order, so that it is settled only once.
 * @see https://github.com/x402-foundation/x402/blob/main/specs/extensions/payment_identifier.md
 */
export const paymentIdentifierName = 'payment-identifier'

export const PaymentIdentifier = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,128}$/, 'must have 16 to 128 letters, digits, hyphens or underscores')

/** Declaration of the seller, which the client returns with its identifier. */
export type IdentifierDeclaration = { info: { required: boolean }; schema: Readonly<Record<string, unknown>> }

export const identifierDeclaration: IdentifierDeclaration = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { required: { type: 'boolean' }, id: { type: 'string', minLength: 16, maxLength: 128 } },
    required: ['required'],
  },
}
