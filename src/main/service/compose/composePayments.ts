import { createChainThread } from '#platform/chain/chainThread.ts'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import { findEvmNetwork, testLedgerNetwork } from '#shared/contract/networks.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { Query } from '#storage/store.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { createChainFacilitator } from '../payments/chainFacilitator.ts'
import type { Facilitator } from '../payments/facilitator.ts'
import { createPaymentBooks } from '../payments/paymentBooks.ts'
import { createPaymentGate, type PaymentGate } from '../payments/paymentGate.ts'
import type { PaymentOptions } from '../payments/paymentOptions.ts'
import { paymentRepository } from '../payments/paymentRepository.ts'
import { createDiscoveryRoute, createTestMoneyRoutes, createTopUpRoute } from '../payments/paymentRoutes.ts'
import { createRemoteFacilitator } from '../payments/remoteFacilitator.ts'
import { startPaymentReconciler } from '../payments/startPaymentReconciler.ts'
import { createTestLedgerFacilitator, type TestLedger } from '../payments/testLedgerFacilitator.ts'
import type { CreditModule, LedgerModule } from './composeCredits.ts'
import type { IdentityModule } from './composeIdentity.ts'
import type { ServiceContext } from './serviceContext.ts'

export type PaymentModule = {
  capabilities: readonly string[]
  paymentGate: PaymentGate
  isSandboxLeased(query: Query, id: SandboxId): Promise<boolean>
  endpoints: readonly Endpoint[]
  /** Resumes unfinished settlements and deliveries. Call it after all products are registered. */
  start(): Promise<void>
}

type Dependencies = { ledger: LedgerModule; credits: CreditModule; identity: IdentityModule }

/** Payee in the test ledger unless one is configured. */
const testPayee = '0x7357000000000000000000000000000000000001'
const maxAnswerBytes = 256 * 1024

/** Composes x402 payments. @throws AppError `config/invalid` */
export async function composePayments(
  context: ServiceContext,
  { ledger: ledgerModule, credits, identity }: Dependencies,
): Promise<PaymentModule> {
  const { options, store, clock, scope, address, activity, callers } = context
  const { now } = options
  const { steadyMs } = clock
  const log = options.log.forArea('payments')
  const { ledger } = ledgerModule
  const testLedger =
    options.payments?.facilitator.kind === 'test-ledger' ? createTestLedgerFacilitator({ store, now }) : undefined
  const facilitator = createFacilitator(context, testLedger)
  const payTo = await getPayee(options.payments)
  const paymentGate = createPaymentGate({
    books: createPaymentBooks({ store, ledger, now: steadyMs }),
    facilitator,
    payTo,
    baseUrl: address.base,
    onFailure: (error) => log.error('payment failed unexpectedly', { error }),
    now,
    steadyMs,
  })
  const unfinished = scope.own(
    startPaymentReconciler({
      ...{ store, paymentGate, log },
      network: facilitator?.network.id,
      now: steadyMs,
    }),
    (it) => it.close(),
  )
  // Closed first, to end pending requests to the facilitator.
  if (facilitator) scope.own(facilitator, (it) => it.close())
  return {
    paymentGate,
    isSandboxLeased: paymentRepository.isSandboxLeased,
    capabilities: facilitator ? ['payments'] : [],
    endpoints: callers.bindEndpoints([
      createTopUpRoute({
        ...{ paymentGate, prices: credits.prices, ledger },
        findAccount: identity.findAccount,
        recordForAccount: activity.recordForAccount,
      }),
      createDiscoveryRoute({ paymentGate, baseUrl: address.base }),
      ...createTestMoneyRoutes({ ledger: testLedger, assertUnlimited: credits.assertUnlimited }),
    ]),
    start: unfinished.start,
  }
}

function createFacilitator(
  { options, scope }: ServiceContext,
  testLedger: TestLedger | undefined,
): Facilitator | undefined {
  const { payments, now } = options
  if (!payments) return undefined
  const { facilitator } = payments
  if (facilitator.kind === 'test-ledger') return testLedger
  const log = options.log.forArea('payments')
  const network = getNetwork(payments)
  const thread = scope.own(createChainThread({ log }), (it) => it.close())
  const { rpcUrl } = facilitator
  if (facilitator.kind === 'chain') {
    const { relayerKey } = facilitator
    return createChainFacilitator({
      chain: thread.chain({ network, rpcUrl: facilitator.rpcUrl }),
      relayerKey,
      log,
      now,
    })
  }
  const chain = rpcUrl === undefined ? undefined : thread.chain({ network, rpcUrl })
  const http = createHttpClient({ maxAnswerBytes })
  const { url, cdpKey } = facilitator
  return createRemoteFacilitator({ network, url, chain, cdpKey, http, log, now })
}

function getNetwork({ network }: PaymentOptions) {
  const evmNetwork = network === undefined ? undefined : findEvmNetwork(network)
  if (evmNetwork && evmNetwork.chainId !== testLedgerNetwork.chainId) return evmNetwork
  throw new AppError('config/invalid', `\`payments.network\`: unsupported network ${network}.`)
}

/** Clients reject an address with a wrong checksum, and so does this check: the address may be mistyped. */
async function getPayee(payments: PaymentOptions | undefined): Promise<string> {
  const payTo = payments?.payTo
  if (payTo === undefined) return testPayee
  const { validate } = await import('ox/Address')
  const isMixed = payTo !== payTo.toLowerCase()
  if (validate(payTo, { strict: isMixed })) return payTo
  throw new AppError(
    'config/invalid',
    `\`payments.pay_to\`: ${payTo} is not a valid address, or its checksum is wrong.`,
  )
}
