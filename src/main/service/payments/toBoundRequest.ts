import { createHash } from 'node:crypto'
import type { PricedRequest } from '#platform/http/endpoint.ts'
import { assertKey } from '#platform/http/oncePerKey.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import type { Offer } from './offer.ts'
import type { PaymentPayload } from './parsePaymentHeader.ts'
import type { Refusal } from './paymentAuthorization.ts'
import type { PaymentLock, PaymentRow } from './paymentRepository.ts'
import { possiblySettledStates } from './settlementStates.ts'

/** Payment with the request that it is bound to. It cannot pay for another one. */
export type BoundRequest = PaymentLock &
  Pick<PaymentRow, 'operation' | 'key' | 'accountId' | 'method' | 'path' | 'bodyHash' | 'authorization'>

export function toBoundRequest(input: { payload: PaymentPayload; order: Order; lock: PaymentLock }): BoundRequest {
  const { payload, order, lock } = input
  return { ...lock, ...order, authorization: payload.authorization }
}

/** Request to a paid route, before payment. */
export type Order = Pick<PaymentRow, 'operation' | 'key' | 'accountId' | 'method' | 'path' | 'bodyHash'>

/** @throws AppError `request/invalid` if the length of the `Idempotency-Key` is invalid */
export function toOrder(input: {
  accountId: AccountId
  operation: string
  request: PricedRequest
  /** Identifier of the payment, used if the header is missing. */
  identifier: string | undefined
}): Order {
  const { request, identifier, ...rest } = input
  const { method, path, headers, body } = request
  const key = headers['idempotency-key'] === undefined ? identifier : String(headers['idempotency-key'])
  if (key !== undefined) assertKey(key)
  return { ...rest, key, method, path, bodyHash: createHash('sha256').update(body).digest() }
}

export function isSameOrder(stored: Order, fresh: Order): boolean {
  return (
    stored.accountId === fresh.accountId &&
    stored.operation === fresh.operation &&
    stored.method === fresh.method &&
    stored.path === fresh.path &&
    stored.bodyHash.equals(fresh.bodyHash)
  )
}

/** Returns the in-process lock names of the order's key. Empty without a key. */
export function toKeyNames({ accountId, key }: Pick<Order, 'accountId' | 'key'>): string[] {
  return key === undefined ? [] : [JSON.stringify([accountId, key])]
}

/** Returns the in-process lock name of a payment. A process serves only one network. */
export function toKeyString({ payer, nonce }: Pick<PaymentLock, 'payer' | 'nonce'>): string {
  return `${payer} ${nonce}`
}

/** Whether a payment has settled or may have settled. */
export function mayHavePaid(row: PaymentRow | undefined): boolean {
  return row !== undefined && possiblySettledStates.includes(row.state)
}

export function isSame(stored: BoundRequest, fresh: BoundRequest): boolean {
  return isSameOrder(stored, fresh) && JSON.stringify(sortFields(stored)) === JSON.stringify(sortFields(fresh))
}

function sortFields({ authorization }: BoundRequest): [string, string][] {
  return Object.entries(authorization).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Rejects payments from any wallet except that of the sign-in. */
export function assertOwnWallet(holder: Caller | undefined, { authorization: { from } }: PaymentPayload): void {
  const wallet = holder?.wallet
  if (!wallet || (wallet.type === 'evm' && wallet.address.toLowerCase() === from)) return
  throw new AppError('payments/wallet', `The payment is from ${from}, but you signed in with ${wallet.address}.`)
}

/** Checks the fields outside the authorization. The signature also covers network and asset. */
export function findMismatch({ scheme, network, asset }: PaymentPayload, { network: own }: Offer): Refusal | undefined {
  if (scheme !== 'exact') return { reason: 'unsupported_scheme', message: `The scheme ${scheme} is not supported.` }
  if (network !== own.id && network !== own.slug) {
    return { reason: 'invalid_network', message: `The payment is on ${network}, not on ${own.id}.` }
  }
  if (asset === undefined || asset.toLowerCase() === own.usdc.address.toLowerCase()) return undefined
  return { reason: 'invalid_asset', message: `The payment is in ${asset}, not in ${own.usdc.address}.` }
}
