import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import { PaymentIdentifier, paymentIdentifierName } from '#shared/paymentIdentifier.ts'
import type { PaymentAuthorization } from './paymentAuthorization.ts'

/** Payment as received in a header. Only its format was validated. */
export type PaymentPayload = {
  version: 1 | 2
  scheme: string
  network: string
  /** Contract address of the token. Undefined in version 1. */
  asset: string | undefined
  authorization: PaymentAuthorization
  /** Identifier of the order, from the extension `payment-identifier`. */
  identifier: string | undefined
}

/** Longer than any payment of the scheme `exact`. */
const maxCharacters = 8192
const largest = 2n ** 256n

const Hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`), `must be 0x and ${bytes * 2} hexadecimal digits`)
    .transform((text) => text.toLowerCase() as `0x${string}`) // matched by the pattern
const Uint = z
  .string()
  .regex(/^\d{1,90}$/, 'must be a decimal number in a string')
  .transform((text) => BigInt(text))
  .refine((value) => value < largest, 'must be less than 2^256')
  .transform(String)
/** Signatures of contracts are longer. They are parsed so that they can be rejected with a reason. */
const Signature = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2}){1,3000}$/, 'must be 0x and hexadecimal digits')
  .transform((text) => normalizeSignature(text.toLowerCase()))
const Exact = z.object({
  signature: Signature,
  authorization: z.object({
    from: Hex(20),
    to: Hex(20),
    value: Uint,
    validAfter: Uint,
    validBefore: Uint,
    nonce: Hex(32),
  }),
})
const name = z.string().min(1).max(100)
const Version1 = z.object({ x402Version: z.literal(1), scheme: name, network: name, payload: Exact })
const Version2 = z.object({
  x402Version: z.literal(2),
  accepted: z.object({ scheme: name, network: name, asset: name.optional() }),
  payload: Exact,
  extensions: z
    .object({
      [paymentIdentifierName]: z.object({ info: z.object({ id: PaymentIdentifier.optional() }) }).optional(),
    })
    .optional(),
})

/**
 * @returns undefined without a payment header
 * @throws AppError `payments/malformed` that names the invalid part
 */
export function parsePaymentHeader(headers: IncomingHttpHeaders): PaymentPayload | undefined {
  const { v1, v2 } = paymentHeaders.payment
  const texts = [headers[v2], headers[v1]].filter((it) => it !== undefined).map(String)
  const [text] = texts
  if (text === undefined) return undefined
  const [first, ...others] = texts.map(decodeBase64)
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    throw createMalformedError(`\`${v1}\` and \`${v2}\` contain different payments`)
  }
  const version = parseVersion(first)
  if (version === 1) {
    const { scheme, network, payload } = read(Version1, first)
    return {
      version,
      scheme,
      network,
      asset: undefined,
      authorization: toAuthorization(payload),
      identifier: undefined,
    }
  }
  const { accepted, payload, extensions } = read(Version2, first)
  const identifier = extensions?.[paymentIdentifierName]?.info.id
  const { scheme, network, asset } = accepted
  return { version, scheme, network, asset, authorization: toAuthorization(payload), identifier }
}

function decodeBase64(text: string): unknown {
  if (text.length > maxCharacters) throw createMalformedError(`it is longer than ${maxCharacters} characters`)
  const json = text.trimStart().startsWith('{') ? text : decodeBase64Text(text.trim())
  const value = parseJsonOrUndefined(json)
  if (value === undefined) throw createMalformedError('it is not valid JSON')
  return value
}

function decodeBase64Text(text: string): string {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw createMalformedError('it is neither base64 nor JSON')
  return Buffer.from(text, 'base64').toString('utf8')
}

function parseVersion(value: unknown): 1 | 2 {
  const version = z.object({ x402Version: z.union([z.literal(1), z.literal(2)]) }).safeParse(value)
  if (version.success) return version.data.x402Version
  throw createMalformedError('`x402Version` must be 1 or 2')
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw createMalformedError(`\`${issue?.path.join('.')}\` ${issue?.message}`)
}

function toAuthorization({ signature, authorization }: z.output<typeof Exact>): PaymentAuthorization {
  return { ...authorization, signature }
}

/** Normalizes the last byte of a signature, which has two encodings. */
function normalizeSignature(signature: string): `0x${string}` {
  const last = { '00': '1b', '01': '1c' }[signature.slice(130)]
  return (last === undefined ? signature : `${signature.slice(0, 130)}${last}`) as `0x${string}` // the input is hexadecimal
}

function createMalformedError(subject: string): AppError {
  return new AppError('payments/malformed', `The payment cannot be read: ${subject}.`)
}
