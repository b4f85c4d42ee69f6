import { AppError } from '#shared/appError.ts'
import {
  buyCredits,
  getAuthorizationState,
  getTestBalance,
  giveTestMoney,
  listPaidResources,
} from '#shared/contract/payments.ts'
import type { AccountId } from '#shared/ids.ts'
import { centsToMicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Caller, createEndpoint, createOpenEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { LedgerStore } from '../credits/ledgerStore.ts'
import type { PriceList } from '../credits/priceList.ts'
import type { PaymentGate } from './paymentGate.ts'
import type { Paid } from './sale.ts'
import type { TestLedger } from './testLedgerFacilitator.ts'

const faucetAmount = 100_000_000
const perDollar = 1_000_000

type Purchase = { credits_cents: number }

/** Creates the route that sells credits for USDC. */
export function createTopUpRoute(options: {
  paymentGate: PaymentGate
  prices: PriceList
  ledger: Pick<LedgerStore, 'change'>
  findAccount: (address: string) => Promise<AccountId | undefined>
  recordForAccount: ActivityLog['recordForAccount']
}): Endpoint {
  const { paymentGate, prices, ledger, recordForAccount } = options
  /** Idempotent: credits a purchase once. */
  const creditPurchase = async ({ id, accountId, purchase, transaction }: Paid<Purchase>) => {
    const { credits_cents } = purchase
    const amount = centsToMicroUsd(credits_cents)
    const note = 'Bought with USDC'
    const requestKey = `payment ${id}`
    await ledger.change(
      { accounts: [accountId], issues: true, requestKeys: [requestKey] },
      (it) => it.issue({ type: 'top_up', to: accountId, amount, note, requestKey }),
      { isDurable: true },
    )
    recordForAccount(accountId, {
      type: 'credits.bought',
      description: `Bought ${formatUsd(amount, 'cents', 'down')} of credits`,
    })
    return { success: true as const, credits_cents, tx_hash: transaction }
  }
  return paymentGate.sell<typeof buyCredits, Purchase>(
    buyCredits,
    { kind: 'open', signIn: false },
    {
      async account({ params: { address } }) {
        const accountId = await options.findAccount(address)
        if (accountId) return accountId
        throw new AppError('credits/recipient-not-found', `No account of this service belongs to ${address}.`)
      },
      quote({ params }) {
        const dollars = Number(params.amount_usd)
        const tier = prices.paymentTiers.find(({ amount_usd }) => amount_usd === dollars)
        if (!tier) {
          const all = prices.paymentTiers.map(({ amount_usd }) => amount_usd).join(', ')
          throw new AppError('payments/tier', `You can buy credits for ${all} dollars, not for $${dollars}.`)
        }
        const { credits_cents } = tier
        const description = `${formatUsd(centsToMicroUsd(credits_cents), 'cents', 'down')} of credits`
        return { amount: toMicroUsd(dollars * perDollar), description, purchase: { credits_cents } }
      },
      fulfil: creditPurchase,
      recover: creditPurchase,
    },
  )
}

/** Creates the endpoint that lists products: https://github.com/Merit-Systems/x402scan/blob/main/docs/DISCOVERY.md */
export function createDiscoveryRoute(options: {
  paymentGate: Pick<PaymentGate, 'listPaidRoutes'>
  baseUrl: () => string
}): Endpoint {
  const instructions = (base: string) =>
    `Names in braces are parameters: ${base}/openapi.json describes each operation, its method and its body. Prices of credits: ${base}/v1/credits/pricing. Prices of domains: ${base}/domains/pricing. A domain belongs to an account: sign in with the wallet that pays, or send an API key.`
  return createOpenEndpoint(listPaidResources, () => {
    const base = options.baseUrl()
    return {
      version: 1 as const,
      resources: options.paymentGate
        .listPaidRoutes()
        .flatMap(({ path, aliases }) => [path, ...aliases])
        .map((path) => `${base}${path.replaceAll(/:(\w+)/g, '{$1}')}`),
      instructions: instructions(base),
    }
  })
}

/** Creates the routes of test money, if payments use it. */
export function createTestMoneyRoutes(options: {
  ledger: TestLedger | undefined
  /** @throws AppError for a key with limits */
  assertUnlimited: (caller: Caller) => Promise<void>
}): Endpoint[] {
  const testLedger = (): TestLedger => {
    if (options.ledger) return options.ledger
    throw new AppError('payments/no-test-money', 'This service has no test money.')
  }
  const toNames = ({ network }: TestLedger) => ({ network: network.id, asset: network.usdc.address })
  return [
    createEndpoint(giveTestMoney, async ({ body: { address } }, { caller }) => {
      const ledger = testLedger()
      await options.assertUnlimited(caller)
      const balance = await ledger.give(address, faucetAmount)
      return { address, amount: String(faucetAmount), balance: String(balance), ...toNames(ledger) }
    }),
    createEndpoint(getTestBalance, async ({ params: { address } }) => {
      const ledger = testLedger()
      return { address, balance: String(await ledger.balance(address)), ...toNames(ledger) }
    }),
    createEndpoint(getAuthorizationState, async ({ params: { address, nonce } }) => {
      const ledger = testLedger()
      // Reads the time first: an authorization that is unused after this time was unused at this time.
      const timestamp = toIsoTime(ledger.now())
      const transaction = (await ledger.findTransaction(address, nonce)) ?? null
      return { used: transaction !== null, transaction, at: timestamp }
    }),
  ]
}
