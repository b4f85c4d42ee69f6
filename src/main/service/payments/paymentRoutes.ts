import { AppError } from '#shared/appError.ts'
import {
  buyCredits,
  getAuthorizationState,
  getTestBalance,
  giveTestMoney,
  listPaidResources,
} from '#shared/contract/payments.ts'
import type { AccountId } from '#shared/ids.ts'
import { microUsd, microUsdOfCents } from '#shared/microUsd.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { isoTime } from '#shared/time.ts'
import type { GroupCommit } from '#storage/groupCommit.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Caller, type Endpoint, endpoint, openEndpoint } from '../base/endpoint.ts'
import type { CreditLedger } from '../credits/creditLedger.ts'
import type { PriceList } from '../credits/priceList.ts'
import type { Paid } from './sale.ts'
import type { TestLedger } from './testLedgerFacilitator.ts'
import type { Till } from './till.ts'

const faucetAmount = 100_000_000
const perDollar = 1_000_000

type Purchase = { credits_cents: number }

/** Credits for USDC. */
export function topUpRoute(options: {
  till: Till
  prices: PriceList
  ledger: Pick<CreditLedger, 'issue'>
  commits: Pick<GroupCommit, 'flushed'>
  accountOf: (address: string) => AccountId | undefined
  noteAccount: ActivityLog['noteAccount']
}): Endpoint {
  const { till, prices, ledger, commits, noteAccount } = options
  /** However often it is asked for, it credits once. */
  const credited = async ({ id, accountId, purchase, transaction }: Paid<Purchase>) => {
    const { credits_cents } = purchase
    const amount = microUsdOfCents(credits_cents)
    const note = 'Bought with USDC'
    await commits.flushed(() =>
      ledger.issue({ type: 'top_up', to: accountId, amount, note, requestKey: `payment ${id}` }),
    )
    noteAccount(accountId, {
      type: 'credits.bought',
      description: `Bought ${formatUsd(amount, 'cents', 'down')} of credits`,
    })
    return { success: true as const, credits_cents, tx_hash: transaction }
  }
  return till.sell<typeof buyCredits, Purchase>(
    buyCredits,
    { kind: 'open', signIn: false },
    {
      account({ params: { address } }) {
        const accountId = options.accountOf(address)
        if (accountId) return accountId
        throw new AppError('credits/recipient-not-found', `No account here belongs to ${address}.`)
      },
      quote({ params }) {
        const dollars = Number(params.amount_usd)
        const tier = prices.paymentTiers.find(({ amount_usd }) => amount_usd === dollars)
        if (!tier) {
          const all = prices.paymentTiers.map(({ amount_usd }) => amount_usd).join(', ')
          throw new AppError('payments/tier', `Credits are not sold for $${dollars}, only for ${all} dollars.`)
        }
        const { credits_cents } = tier
        const description = `${formatUsd(microUsdOfCents(credits_cents), 'cents', 'down')} of credits`
        return { amount: microUsd(dollars * perDollar), description, purchase: { credits_cents } }
      },
      fulfil: credited,
      recover: credited,
    },
  )
}

/** What is sold here, for those who look for it: https://github.com/Merit-Systems/x402scan/blob/main/docs/DISCOVERY.md */
export function discoveryRoute(options: { till: Pick<Till, 'sold'>; baseUrl: () => string }): Endpoint {
  const instructions = (base: string) =>
    `Names in braces are parameters: ${base}/openapi.json describes each operation, its method and its body. Prices of credits: ${base}/v1/credits/pricing. Prices of domains: ${base}/domains/pricing. A domain belongs to an account: sign in with the wallet that pays, or send an API key.`
  return openEndpoint(listPaidResources, () => {
    const base = options.baseUrl()
    return {
      version: 1 as const,
      resources: options.till
        .sold()
        .flatMap(({ path, aliases }) => [path, ...aliases])
        .map((path) => `${base}${path.replaceAll(/:(\w+)/g, '{$1}')}`),
      instructions: instructions(base),
    }
  })
}

/** Test money, where that is what is paid with. */
export function testMoneyRoutes(options: {
  ledger: TestLedger | undefined
  /** @throws AppError for a key with limits */
  needUnlimited: (caller: Caller) => void
}): Endpoint[] {
  const testLedger = (): TestLedger => {
    if (options.ledger) return options.ledger
    throw new AppError('payments/no-test-money', 'There is no test money at this service.')
  }
  const namesOf = ({ network }: TestLedger) => ({ network: network.id, asset: network.usdc.address })
  return [
    endpoint(giveTestMoney, async ({ body: { address } }, { caller }) => {
      const ledger = testLedger()
      options.needUnlimited(caller)
      const balance = await ledger.give(address, faucetAmount)
      return { address, amount: String(faucetAmount), balance: String(balance), ...namesOf(ledger) }
    }),
    endpoint(getTestBalance, ({ params: { address } }) => {
      const ledger = testLedger()
      return { address, balance: String(ledger.balance(address)), ...namesOf(ledger) }
    }),
    endpoint(getAuthorizationState, ({ params: { address, nonce } }) => {
      const ledger = testLedger()
      // The time first: what is unused after it has passed could not have been used before.
      const at = isoTime(ledger.now())
      const transaction = ledger.transactionOf(address, nonce) ?? null
      return { used: transaction !== null, transaction, at }
    }),
  ]
}
