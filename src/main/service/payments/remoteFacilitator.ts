import { z } from 'zod'
import type { Chain } from '#platform/chain/chain.ts'
import type { HttpClient } from '#platform/http/httpClient.ts'
import type { Log } from '#platform/logging/log.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import type { EvmNetwork } from '#shared/contract/networks.ts'
import { type CdpKey, createCdpToken } from './cdpToken.ts'
import { describeChainError, readChainOutcome } from './chainOutcome.ts'
import type { Facilitator, Settlement, SignedPayment } from './facilitator.ts'
import { createRequirements } from './offer.ts'

const verifyWithinMs = 15_000
const defaultSettleWithinMs = 60_000

const words = z.string().max(300).nullish()
const Verified = z.object({ isValid: z.boolean(), invalidReason: words, invalidMessage: words })
const Settled = z.discriminatedUnion('success', [
  z.object({
    success: z.literal(true),
    transaction: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
    network: z.string(),
    payer: words,
  }),
  z.object({ success: z.literal(false), transaction: words, errorReason: words, errorMessage: words }),
])
/** Reasons of facilitators if a verification could not run. */
const inconclusiveReason =
  /unexpected|unknown|timeout|timed_out|internal|failed_to_(send|confirm)|pending|settle_error/i

/**
 * Reasons that rule out a transfer: they concern the signed payment or the payer's balance. Any other refusal may follow
 * a completed transfer, so it proves nothing.
 */
const unmovedReasons: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_scheme',
  'unsupported_scheme',
  'invalid_exact_evm_scheme',
  'invalid_network',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_eip3009_not_supported',
])

/**
 * Creates a facilitator that settles through a remote server by x402 version 2. Ambiguous responses count as an unknown
 * outcome.
 * @see https://docs.x402.org/core-concepts/facilitator
 */
export function createRemoteFacilitator(options: {
  network: EvmNetwork
  url: string
  /** Chain for looking up outcomes of payments. Default: none. */
  chain: Chain | undefined
  /** Coinbase credentials. Undefined if the facilitator requires no key. */
  cdpKey?: CdpKey | undefined
  http: HttpClient
  log: Log
  now: () => number
  settleWithinMs?: number
}): Facilitator {
  const { network, http, log, chain, cdpKey, now, settleWithinMs = defaultSettleWithinMs } = options
  const base = options.url.replace(/\/+$/, '')

  const ask = async (path: string, { authorization: signed }: SignedPayment, withinMs: number) => {
    const { signature, ...authorization } = signed
    const accepted = createRequirements({ network, payTo: signed.to, amount: Number(signed.value) })
    const paymentPayload = { x402Version: 2, accepted, payload: { signature, authorization } }
    const request = { method: 'POST', url: `${base}/${path}` }
    const { status, text } = await http.ask(request.url, {
      method: request.method,
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json' },
        ...(cdpKey && { authorization: `Bearer ${createCdpToken(cdpKey, request, now())}` }),
      },
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: accepted }),
      signal: AbortSignal.timeout(withinMs),
    })
    return { status, json: parseJsonOrUndefined(text) }
  }

  /**
   * Determines the outcome on the chain, if one is configured. After money may have moved, a refusal proves nothing,
   * because it may result from the transfer itself.
   */
  const onChain = async (payment: SignedPayment): Promise<Settlement> => {
    const unknown: Settlement = { state: 'unknown', message: 'The facilitator did not report the outcome.' }
    if (!chain) return unknown
    const outcome = await readChainOutcome({ chain, now }, payment)
    return outcome.state === 'unused' ? unknown : outcome
  }

  const settle = async (payment: SignedPayment): Promise<Settlement> => {
    const { status, json } = await ask('settle', payment, settleWithinMs)
    const answer = Settled.safeParse(json)
    if (!answer.success || status >= 500) return onChain(payment)
    if (answer.data.success) {
      const { network: paidOn, payer, transaction } = answer.data
      const isOurs = paidOn === network.id || paidOn === network.slug
      const isTheirs = payer == null || payer.toLowerCase() === payment.authorization.from
      return status === 200 && isOurs && isTheirs ? { state: 'settled', transaction } : onChain(payment)
    }
    const { errorReason, transaction } = answer.data
    if (payment.again || !errorReason || !unmovedReasons.has(errorReason) || transaction) return onChain(payment)
    return {
      state: 'failed',
      reason: errorReason,
      message: `The facilitator refused to settle the payment: ${errorReason}.`,
    }
  }

  return {
    network,
    async verify(payment) {
      const { status, json } = await ask('verify', payment, verifyWithinMs)
      const answer = Verified.safeParse(json)
      if (!answer.success || status >= 500) throw new Error(`The facilitator responded with status ${status}.`)
      const { isValid, invalidReason } = answer.data
      if (isValid && status === 200) return undefined
      const reason = invalidReason ?? 'invalid_payment'
      if (inconclusiveReason.test(reason)) throw new Error('The facilitator could not verify the payment.')
      return { reason, message: `The facilitator rejected the payment: ${reason}.` }
    },
    async settle(payment) {
      try {
        return await settle(payment)
      } catch (error) {
        log.warn('payment outcome unknown', { error: describeChainError(error) })
        return onChain(payment).catch(
          (): Settlement => ({ state: 'unknown', message: 'The facilitator did not respond.' }),
        )
      }
    },
    async close() {
      http.close()
    },
  }
}
