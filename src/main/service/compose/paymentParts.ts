import { chainThread } from '#platform/chain/chainThread.ts'
import { httpClient } from '#platform/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import { evmNetwork, testLedgerNetwork } from '#shared/contract/networks.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { chainFacilitator } from '../payments/chainFacilitator.ts'
import type { Facilitator } from '../payments/facilitator.ts'
import { paymentBooks } from '../payments/paymentBooks.ts'
import type { PaymentOptions } from '../payments/paymentOptions.ts'
import { paymentRepository } from '../payments/paymentRepository.ts'
import { discoveryRoute, testMoneyRoutes, topUpRoute } from '../payments/paymentRoutes.ts'
import { remoteFacilitator } from '../payments/remoteFacilitator.ts'
import { type TestLedger, testLedgerFacilitator } from '../payments/testLedgerFacilitator.ts'
import { testMoneyRepository } from '../payments/testMoneyRepository.ts'
import { type Till, till } from '../payments/till.ts'
import { unfinishedPayments } from '../payments/unfinishedPayments.ts'
import type { CreditParts, LedgerParts } from './creditParts.ts'
import type { IdentityParts } from './identityParts.ts'
import type { ServiceGround } from './serviceGround.ts'

export type PaymentParts = {
  /** Named in /health. */
  capabilities: readonly string[]
  /** For every slice that sells something. */
  till: Till
  endpoints: readonly Endpoint[]
  /** Once all that is sold is known: looks after what was left unfinished. */
  start(): Promise<void>
}

type Given = { ledger: LedgerParts; money: CreditParts; identity: IdentityParts }

/** Of the test ledger, where nobody configured one. */
const testPayee = '0x7357000000000000000000000000000000000001'
const mostAnswerBytes = 256 * 1024

/** What is paid by x402. @throws AppError `config/invalid` */
export async function paymentParts(
  ground: ServiceGround,
  { ledger: opened, money, identity }: Given,
): Promise<PaymentParts> {
  const { options, database, clock, scope, address, activity, callers } = ground
  const { now } = options
  const { steadyMs } = clock
  const log = options.log.of('payments')
  const { ledger, commits } = opened
  const records = paymentRepository(database)
  const testLedger =
    options.payments?.facilitator.kind === 'test-ledger'
      ? testLedgerFacilitator({ records: testMoneyRepository(database), commits, now })
      : undefined
  const facilitator = facilitatorOf(ground, testLedger)
  const payTo = await payeeOf(options.payments)
  const sold = till({
    books: paymentBooks({ records, ledger, commits, now: steadyMs }),
    facilitator,
    payTo,
    baseUrl: address.base,
    onFailure: (failure) => log.error('a payment met a failure', { failure }),
    now,
    steadyMs,
  })
  const unfinished = scope.own(unfinishedPayments({ records, till: sold, commits, now: steadyMs, log }), (it) =>
    it.close(),
  )
  // It closes first: what waits for it ends then.
  if (facilitator) scope.own(facilitator, (it) => it.close())
  return {
    till: sold,
    capabilities: facilitator ? ['payments'] : [],
    endpoints: callers.known([
      topUpRoute({
        ...{ till: sold, prices: money.prices, ledger, commits },
        accountOf: identity.accountOf,
        noteAccount: activity.noteAccount,
      }),
      discoveryRoute({ till: sold, baseUrl: address.base }),
      ...testMoneyRoutes({ ledger: testLedger, needUnlimited: money.needUnlimited }),
    ]),
    start: unfinished.start,
  }
}

function facilitatorOf({ options, scope }: ServiceGround, testLedger: TestLedger | undefined): Facilitator | undefined {
  const { payments, now } = options
  if (!payments) return undefined
  const { facilitator } = payments
  if (facilitator.kind === 'test-ledger') return testLedger
  const log = options.log.of('payments')
  const network = networkOf(payments)
  const thread = scope.own(chainThread({ log }), (it) => it.close())
  const { rpcUrl } = facilitator
  if (facilitator.kind === 'chain') {
    const { relayerKey } = facilitator
    return chainFacilitator({ chain: thread.chain({ network, rpcUrl: facilitator.rpcUrl }), relayerKey, log, now })
  }
  const chain = rpcUrl === undefined ? undefined : thread.chain({ network, rpcUrl })
  const http = httpClient({ maxAnswerBytes: mostAnswerBytes })
  const { url, cdpKey } = facilitator
  return remoteFacilitator({ network, url, chain, cdpKey, http, log, now })
}

function networkOf({ network }: PaymentOptions) {
  const known = network === undefined ? undefined : evmNetwork(network)
  if (known && known.chainId !== testLedgerNetwork.chainId) return known
  throw new AppError('config/invalid', `\`payments.network\` ${network} is no network that payments are taken on.`)
}

/** Clients refuse an address whose checksum is wrong, and so do we: it may be mistyped. */
async function payeeOf(payments: PaymentOptions | undefined): Promise<string> {
  const payTo = payments?.payTo
  if (payTo === undefined) return testPayee
  const { validate } = await import('ox/Address')
  const isMixed = payTo !== payTo.toLowerCase()
  if (validate(payTo, { strict: isMixed })) return payTo
  throw new AppError('config/invalid', `\`payments.pay_to\` ${payTo} is no address, or its checksum is wrong.`)
}
