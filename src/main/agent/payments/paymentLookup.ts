import { setTimeout as wait } from 'node:timers/promises'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { readTransactionNonce } from '#platform/solana/solanaTransaction.ts'
import type { AuthorizationLookup, AuthorizationState } from '../base/authorizations.ts'
import type { StoredPayment } from './paymentRepository.ts'

export type PaymentLookup = {
  /** @param transaction hash reported by the seller, or null */
  findState(payment: StoredPayment, transaction: string | null): Promise<AuthorizationState>
  /**
   * Reads the settled amount of an `upto` payment from the chain, never from the seller.
   * @returns undefined if unknown, which counts as the full amount
   */
  readSettledMicroUsd(
    payment: StoredPayment,
    transaction: string | null,
    signal: AbortSignal,
  ): Promise<number | undefined>
}

/** Attempts to find a transaction, because our node may receive it a few seconds after the seller's node. */
const lookupAttempts = 4
const lookupIntervalMs = 1_000

export function createPaymentLookup(lookup: Pick<AuthorizationLookup, 'findState'>): PaymentLookup {
  return {
    findState: async (payment, transaction) => lookup.findState(await toLookup(payment, transaction)),
    async readSettledMicroUsd(payment, transaction, signal) {
      if (payment.record.scheme !== 'upto' || transaction === null) return undefined
      const settlement = await toLookup(payment, transaction)
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await lookup.findState(settlement)
        if (outcome.state === 'used') return outcome.settledMicroUsd
        if (attempt === lookupAttempts) return undefined
        await wait(lookupIntervalMs, undefined, { signal })
      }
    },
  }
}

/** Returns the time after which the signature is void, in milliseconds since 1970. */
export function getExpiryMs({ record }: StoredPayment): number {
  return Date.parse(record.valid_until ?? record.created_at)
}

async function toLookup(payment: StoredPayment, transaction: string | null) {
  const { id, network, from: payer, pay_to: payTo, amount, created_at: since } = payment.record
  const nonce = await readNonce(payment)
  if (nonce === undefined) throw new Error(`The payment ${id} has no nonce.`)
  const validBeforeMs = getExpiryMs(payment)
  return {
    ...{ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs: Date.parse(since), transaction },
    ...(payment.request.via === 'service' && { service: payment.request.service }),
  }
}

async function readNonce({ payload }: StoredPayment): Promise<string | undefined> {
  const sent = parseJsonOrUndefined(Buffer.from(payload?.value ?? '', 'base64').toString('utf8')) as
    | {
        payload?: {
          authorization?: { nonce?: string }
          permit2Authorization?: { nonce?: string }
          transaction?: string
        }
      }
    | undefined // written by this application
  const { authorization, permit2Authorization: permit, transaction } = sent?.payload ?? {}
  return (
    authorization?.nonce ??
    permit?.nonce ??
    (transaction === undefined ? undefined : await readTransactionNonce(transaction))
  )
}
