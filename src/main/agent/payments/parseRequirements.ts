import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { solanaPrograms } from '#platform/solana/solanaAddresses.ts'
import {
  type EvmNetwork,
  findEvmNetwork,
  findSolanaNetwork,
  normalizeAddress,
  type SolanaNetwork,
  testLedgerNetwork,
} from '#shared/contract/networks.ts'
import type { PaymentOffer } from '#shared/contract/paymentRecords.ts'
import { paymentHeaders } from '#shared/contract/payments.ts'
import { paymentIdentifierName } from '#shared/paymentIdentifier.ts'
import { toOneLine } from '#shared/untrustedText.ts'

/** Payment requirements as received. They are returned unchanged with the payment. */
export type ReceivedRequirements = Readonly<Record<string, unknown>>
export type ParsedRequirements = {
  offer: PaymentOffer
  raw: ReceivedRequirements
  network: SupportedNetwork | undefined
  /** Set on payable Solana offers. */
  solana?: SolanaTerms
  /** Settling facilitator. Set on payable `upto` offers. */
  facilitator?: string
  /** Declaration of the seller, returned to it with the payment identifier. */
  identifier?: Declaration
}
/** Declaration of the extension `payment-identifier` by the seller. */
export type Declaration = Readonly<Record<string, unknown>>
type SupportedNetwork = EvmNetwork | SolanaNetwork
/** Seller fields that enter a transaction. No others do. */
type SolanaTerms = { feePayer: string; memo?: string }

/** Maximum number of offers read from one response. */
const maxOffers = 20
const createTextSchema = (max: number) => z.string().max(max)
const Amount = z.string().regex(/^\d{1,78}$/)

/** The amount is `maxAmountRequired` in version 1, and `amount` in version 2. */
const RawRequirements = z.looseObject({
  scheme: createTextSchema(64),
  network: createTextSchema(128),
  maxAmountRequired: Amount.optional(),
  amount: Amount.optional(),
  asset: createTextSchema(128),
  payTo: createTextSchema(128),
  maxTimeoutSeconds: z.number().finite().nonnegative().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  extra: z.looseObject({}).optional().catch(undefined),
})
const Demand = z.looseObject({
  x402Version: z.union([z.literal(1), z.literal(2)]),
  accepts: z.array(z.unknown()).min(1),
  resource: z
    .looseObject({ description: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  extensions: z.looseObject({}).optional().catch(undefined),
})
/** Longer declarations are not returned to the seller. */
const maxDeclarationBytes = 4096
const Declared = z.looseObject({ info: z.looseObject({ required: z.boolean().optional() }) })

/** Minimum timeout in seconds. Shorter ones may end before a request does. Signatures are valid for at most 300 s. */
const minTimeoutSeconds = 5

/**
 * Reads the offers of a 402 response. All content is untrusted: networks and tokens are matched with our own table, and
 * offers that do not match exactly are not payable.
 * @param headers lower-case names
 */
export function readRequirements(headers: Readonly<Record<string, string>>, body: string): ParsedRequirements[] {
  const demands = [
    decodeHeader(headers[paymentHeaders.required.v2]),
    parseJsonOrUndefined(body),
    decodeHeader(headers[paymentHeaders.required.v1]),
  ]
  for (const demand of demands) {
    const offers = parseRequirements(demand)
    if (offers.length > 0) return offers
  }
  return []
}

export function parseRequirements(demand: unknown): ParsedRequirements[] {
  const { data } = Demand.safeParse(demand)
  if (!data) return []
  const { x402Version, accepts, resource, extensions } = data
  const identifier = x402Version === 2 ? findDeclaration(extensions) : undefined
  return accepts.slice(0, maxOffers).flatMap((accept) => {
    const requirements = RawRequirements.safeParse(accept).data
    if (!requirements) return []
    const offer = readOffer(requirements, { version: x402Version, described: resource?.description })
    return [identifier ? { ...offer, identifier } : offer]
  })
}

/** Reads the declaration of an untrusted seller, bounded in size. It is returned only to that seller. */
function findDeclaration(extensions: Readonly<Record<string, unknown>> | undefined): Declaration | undefined {
  const { data } = Declared.safeParse(extensions?.[paymentIdentifierName])
  return data && isShortJson(data, maxDeclarationBytes) ? data : undefined
}

/** Whether an untrusted value is JSON of at most `maxBytes`. */
export function isShortJson(value: unknown, maxBytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= maxBytes
  } catch {
    return false // too deeply nested
  }
}

type RawRequirements = z.infer<typeof RawRequirements>

function readOffer(
  raw: RawRequirements,
  { version, described }: { version: 1 | 2; described: string | undefined },
): ParsedRequirements {
  const network = findNetwork(raw.network)
  const amount = (version === 1 ? raw.maxAmountRequired : raw.amount) ?? raw.amount ?? raw.maxAmountRequired ?? ''
  const atomic = amount === '' ? 0n : BigInt(amount)
  const isUsdc = network !== undefined && normalizeAddress(raw.asset) === normalizeAddress(network.usdc.address)
  const problem = findProblem(raw, { version, network, isUsdc, atomic })
  return {
    raw,
    network,
    ...(problem === null && network && isSolana(network) && { solana: toSolanaTerms(raw.extra) }),
    ...(problem === null && raw.scheme === 'upto' && { facilitator: String(raw.extra?.facilitatorAddress) }),
    offer: {
      x402_version: version,
      scheme: raw.scheme,
      network: network?.id ?? raw.network,
      network_name: network?.name ?? null,
      test: network?.test ?? false,
      asset: raw.asset,
      amount: String(atomic),
      amount_micro_usd: isUsdc && atomic <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(atomic) : null,
      pay_to: raw.payTo,
      max_timeout_seconds:
        raw.maxTimeoutSeconds === undefined ? null : Math.min(Math.floor(raw.maxTimeoutSeconds), 2 ** 31),
      description: sanitizeText(raw.description ?? described),
      payable: problem === null,
      problem,
    },
  }
}

type ParseContext = { version: 1 | 2; network: SupportedNetwork | undefined; isUsdc: boolean; atomic: bigint }

function findProblem(
  { scheme, network: name, asset, payTo, maxTimeoutSeconds, extra }: RawRequirements,
  context: ParseContext,
): string | null {
  const { version, network, isUsdc, atomic } = context
  if (scheme !== 'exact' && scheme !== 'upto') return `Steward does not support the scheme ${quote(scheme)}.`
  if (!network) return `Steward does not support the network ${quote(name)}.`
  if (!isUsdc) return `${quote(asset)} is not USDC on ${network.name}.`
  if (atomic <= 0n) return 'The option has no amount.'
  if (atomic > BigInt(Number.MAX_SAFE_INTEGER)) return 'The amount is above the maximum that Steward pays.'
  if (!getAddressPattern(network).test(payTo)) return `${quote(payTo)} is not a valid address on ${network.name}.`
  if (maxTimeoutSeconds !== undefined && maxTimeoutSeconds < minTimeoutSeconds) {
    return `The option allows ${maxTimeoutSeconds} seconds to pay, which is too short.`
  }
  if (scheme === 'upto') return findUptoProblem(network, version, extra)
  if (isSolana(network)) return findSolanaProblem(network, payTo, extra)
  const method = extra?.assetTransferMethod ?? 'eip3009'
  return method === 'eip3009' ? null : 'Steward pays exact amounts only with EIP-3009.'
}

/** @see https://github.com/x402-foundation/x402/blob/main/specs/schemes/upto/scheme_upto_evm.md */
function findUptoProblem(network: SupportedNetwork, version: 1 | 2, extra: RawRequirements['extra']): string | null {
  if (version === 1) return 'x402 version 1 has no scheme “upto”.'
  if (isSolana(network) || network.id === testLedgerNetwork.id)
    return `Steward does not support “upto” on ${network.name}.`
  const { facilitatorAddress, assetTransferMethod = 'permit2' } = extra ?? {}
  if (assetTransferMethod !== 'permit2') return 'Steward supports “upto” only with Permit2.'
  if (typeof facilitatorAddress === 'string' && getAddressPattern(network).test(facilitatorAddress)) return null
  return 'The option has no facilitator.'
}

const maxMemoBytes = 256

/** @see https://github.com/x402-foundation/x402/blob/main/specs/schemes/exact/scheme_exact_svm.md */
function findSolanaProblem(network: SolanaNetwork, payTo: string, extra: RawRequirements['extra']): string | null {
  const { feePayer, memo, tokenProgram } = extra ?? {}
  if (typeof feePayer !== 'string' || !getAddressPattern(network).test(feePayer)) return 'The option has no fee payer.'
  if (tokenProgram !== undefined && tokenProgram !== solanaPrograms.token)
    return 'USDC does not belong to that token program.'
  if (feePayer === network.usdc.address || payTo === network.usdc.address)
    return 'The option uses the USDC mint as an account.'
  if (memo === undefined) return null
  if (typeof memo !== 'string') return 'The memo is not text.'
  if (Buffer.byteLength(memo) > maxMemoBytes) return `The memo is longer than ${maxMemoBytes} bytes.`
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(memo) ? 'The memo has invisible characters.' : null
}

/** Requires an offer without a problem. */
function toSolanaTerms(extra: RawRequirements['extra']): SolanaTerms {
  const { feePayer, memo } = extra ?? {}
  return { feePayer: String(feePayer), ...(typeof memo === 'string' && memo !== '' && { memo }) }
}

function isSolana(network: SupportedNetwork): network is SolanaNetwork {
  return network.id.startsWith('solana:')
}

/** 32 bytes in base58 have 32 to 44 characters. The signer decodes and checks them. */
function getAddressPattern(network: SupportedNetwork): RegExp {
  return isSolana(network) ? /^[1-9A-HJ-NP-Za-km-z]{32,44}$/ : /^0x[0-9a-fA-F]{40}$/
}

/** Finds a supported network, or the test ledger, which the signer accepts only from Steward's service. */
function findNetwork(name: string): SupportedNetwork | undefined {
  if (name === testLedgerNetwork.id) return testLedgerNetwork
  // A bare chain id is not an x402 network name. Sellers may use it with another meaning.
  return /^\d+$/.test(name) ? undefined : (findEvmNetwork(name) ?? findSolanaNetwork(name))
}

function decodeHeader(header: string | undefined): unknown {
  if (header === undefined) return undefined
  const value = header.trim()
  return parseJsonOrUndefined(value.startsWith('{') ? value : Buffer.from(value, 'base64').toString('utf8'))
}

/**
 * Sanitizes untrusted text: removes invisible characters and bidirectional controls.
 * @returns null if the result is empty
 */
export function sanitizeText(text: string | undefined, maxLength = 300): string | null {
  const plain = toOneLine(text ?? '')
  return plain === '' ? null : plain.slice(0, maxLength)
}

function quote(text: string): string {
  return `“${sanitizeText(text, 64) ?? ''}”`
}
