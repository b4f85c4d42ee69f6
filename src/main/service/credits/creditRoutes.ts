import { createBytesAnswer } from '#platform/http/answers.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import {
  adjustCredits,
  type CreditTransaction,
  exportTransactions,
  getBalance,
  getPricing,
  getSpending,
  grantCredits,
  listTransactions,
  refundCharge,
  transferCredits,
} from '#shared/contract/credits.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { formatCsvLine } from '#shared/csv.ts'
import type { AccountId } from '#shared/ids.ts'
import { ceilToCents, centsToMicroUsd, floorToCents, toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Caller, createEndpoint, createRawEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { Credits } from './credits.ts'
import type { HistoryFilters, HistoryRow } from './historyRepository.ts'
import type { TransferRow } from './ledgerRepository.ts'
import { getRulesFor, type KeyRules, toKeyLimit } from './openReservations.ts'
import type { PriceList } from './priceList.ts'
import { formatDay, sumSpending, toSpendingDays } from './spending.ts'

/** Columns of the CSV, in this order. Common fields of a charge have separate columns. */
const historyColumns = [
  'created_at',
  'type',
  'description',
  'amount_cents',
  'balance_after_cents',
  'refunded_cents',
  'key_id',
  'id',
] as const

type CreditRouteOptions = {
  credits: Credits
  prices: PriceList
  sandboxesCharged: boolean
  getRules: (keyId: string) => Promise<KeyRules | undefined>
  /** @throws AppError for a key with limits */
  assertUnlimited: (caller: Caller) => Promise<void>
  /** Finds an account by the address of a wallet or by its id. */
  findAccount: (address: string) => Promise<AccountId | undefined>
  recordForAccount: ActivityLog['recordForAccount']
  now: () => number
}

export function createCreditRoutes(options: CreditRouteOptions): Endpoint[] {
  return [...createHistoryRoutes(options), ...createTransferRoutes(options)]
}

function createHistoryRoutes({ credits, prices, sandboxesCharged, now }: CreditRouteOptions): Endpoint[] {
  return [
    createEndpoint(getBalance, async (_, { caller }) => {
      const { posted, held, available } = await credits.balance(caller.accountId)
      const balance_cents = floorToCents(posted)
      return {
        balance_cents,
        credits_cents: balance_cents,
        formatted: formatUsd(toMicroUsd(posted), 'cents', 'down'),
        held_cents: ceilToCents(held),
        available_cents: floorToCents(available),
      }
    }),
    createEndpoint(listTransactions, async ({ query }, { caller: { accountId }, signal }) => {
      const { limit, offset } = query
      const filters = toFilters(query)
      const { transfers, total } = await credits.history.page({ accountId, filters, limit, offset, signal })
      return { transactions: transfers.map((row) => toWire(row, accountId)), total, limit, offset }
    }),
    createRawEndpoint(exportTransactions, ({ query }, { caller: { accountId } }) =>
      createBytesAnswer({
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': 'attachment; filename="steward-credits.csv"',
        },
        body: formatHistoryCsv(listAll(credits.history, accountId, toFilters(query))),
      }),
    ),
    createEndpoint(getSpending, async ({ query: { by, from, to } }, { caller }) => {
      const days = toSpendingDays({ from, to }, now())
      const rows = await credits.history.sums(caller.accountId, days, by)
      return { from: formatDay(days.from), to: formatDay(days.to), by, ...sumSpending(rows, by) }
    }),
    createEndpoint(getPricing, () => ({
      tiers: prices.tiers,
      pricing: prices.tiers,
      payment_tiers: prices.paymentTiers,
      sandboxes_charged: sandboxesCharged,
    })),
  ]
}

function createTransferRoutes(options: CreditRouteOptions): Endpoint[] {
  const { credits, getRules, assertUnlimited, recordForAccount } = options

  const findRecipient = async (address: string): Promise<AccountId> => {
    const accountId = await options.findAccount(address)
    if (accountId) return accountId
    throw new AppError('credits/recipient-not-found', `No account of this service belongs to ${address}.`)
  }

  return [
    createEndpoint(transferCredits, async ({ body }, { caller, repeatable }) => {
      const { to_address, amount_cents, note = '' } = body
      const { accountId: from, keyId } = caller
      const to = await findRecipient(to_address)
      if (to === from) throw new AppError('request/invalid', '`to_address` must belong to another account.')
      const row = await credits.transfer({
        ...{ from, to, note, amount: centsToMicroUsd(amount_cents), idempotencyKey: repeatable?.key },
        key: toKeyLimit(keyId, await getRulesFor(keyId, getRules)),
      })
      const amount = formatUsd(toMicroUsd(row.amount), 'cents', 'down')
      recordForAccount(from, {
        type: 'credits.sent',
        description: `Sent ${amount} to ${to_address}`,
        chargedMicroUsd: row.amount,
      })
      return {
        transfer_id: row.id,
        status: 'completed',
        ...{ to_address, amount_cents, balance_after_cents: getBalanceAfter(row, from) },
      }
    }),
    createEndpoint(grantCredits, async ({ body }, { caller, repeatable }) => {
      await assertUnlimited(caller)
      const { to_address, amount_cents, note = '' } = body
      const to = await findRecipient(to_address)
      const row = await credits.grant({
        ...{ by: caller.accountId, to, note, amount: centsToMicroUsd(amount_cents), idempotencyKey: repeatable?.key },
      })
      const amount = formatUsd(toMicroUsd(row.amount), 'cents', 'down')
      recordForAccount(caller.accountId, { type: 'credits.granted', description: `Granted ${amount} to ${to_address}` })
      const { posted } = await credits.balance(caller.accountId)
      return {
        transfer_id: row.id,
        status: 'completed',
        to_address,
        amount_cents,
        balance_after_cents: to === caller.accountId ? toExactCents(row.creditBalance) : toExactCents(posted),
      }
    }),
    createEndpoint(adjustCredits, async ({ body }, { caller, repeatable }) => {
      await assertUnlimited(caller)
      const { to_address, amount_cents, note } = body
      const to = to_address === undefined ? caller.accountId : await findRecipient(to_address)
      const direction = amount_cents > 0 ? 'up' : 'down'
      const amount = centsToMicroUsd(Math.abs(amount_cents))
      const request = { by: caller.accountId, to, direction, amount, note } as const
      const row = await credits.adjust({ ...request, idempotencyKey: repeatable?.key })
      const verb = direction === 'up' ? 'Raised' : 'Lowered'
      const whose = to === caller.accountId ? 'your balance' : `the balance of ${to_address}`
      recordForAccount(caller.accountId, {
        type: 'credits.adjusted',
        description: `${verb} ${whose} by ${formatUsd(amount, 'cents', 'down')}: ${note}`,
      })
      return {
        adjustment_id: row.id,
        status: 'completed',
        account_id: to,
        ...{ amount_cents, balance_after_cents: getBalanceAfter(row, to) },
      }
    }),
    createEndpoint(refundCharge, async ({ body }, { caller, repeatable }) => {
      await assertUnlimited(caller)
      const { transaction_id: transactionId, amount_cents, note = '' } = body
      const row = await credits.refund({
        ...{ by: caller.accountId, transactionId, note, idempotencyKey: repeatable?.key },
        amount: amount_cents === undefined ? undefined : centsToMicroUsd(amount_cents),
      })
      recordForAccount(caller.accountId, {
        type: 'credits.refunded',
        description: `Refunded ${toExactCents(row.amount)} cents of ${transactionId}`,
      })
      return {
        refund_id: row.id,
        status: 'completed',
        transaction_id: transactionId,
        amount_cents: toExactCents(row.amount),
      }
    }),
  ]
}

/** Keys with limits are not allowed to do everything, so sensitive routes require an unlimited key. */
export function createUnlimitedCheck(rulesOf: CreditRouteOptions['getRules']): (caller: Caller) => Promise<void> {
  return async ({ keyId }) => {
    const rules = await getRulesFor(keyId, rulesOf)
    if (!rules || (rules.models === null && rules.dailyLimit === null)) return
    throw new AppError('auth/forbidden', 'An API key with limits cannot grant, adjust or refund credits.')
  }
}

async function* listAll(
  history: Credits['history'],
  accountId: AccountId,
  filters: HistoryFilters,
): AsyncGenerator<CreditTransaction[]> {
  for await (const rows of history.rows({ accountId, filters })) yield rows.map((row) => toWire(row, accountId))
}

function getBalanceAfter(row: TransferRow, accountId: AccountId): number {
  return toExactCents(row.debitAccount === accountId ? row.debitBalance : row.creditBalance)
}

type ExportQuery = Parsed<typeof exportTransactions>['query']

function toFilters({ type, model, key: keyId, from, to, text }: ExportQuery): HistoryFilters {
  const fromMs = from === undefined ? undefined : Date.parse(from)
  const beforeMs = to === undefined ? undefined : Date.parse(to)
  return { type, model, keyId, fromMs, beforeMs, text }
}

function toWire(row: HistoryRow, accountId: AccountId): CreditTransaction {
  const isDebit = row.debitAccount === accountId
  const direction = isDebit ? 'transfer_out' : 'transfer_in'
  return {
    id: row.id,
    type: row.type === 'transfer' ? direction : row.type,
    // Avoids -0.
    amount_cents: toExactCents(isDebit ? 0 - row.amount : row.amount),
    description: row.description,
    created_at: toIsoTime(row.atMs),
    balance_after_cents: toExactCents(isDebit ? row.debitBalance : row.creditBalance),
    // written by this service
    ...(row.details !== null && { metadata: parseJson(row.details) as CreditTransaction['metadata'] }),
    ...(isDebit && row.keyId !== null && { key_id: row.keyId }),
    ...(row.refunded !== null && { refunded_cents: toExactCents(row.refunded) }),
  }
}

/** Reads further pages only as the client consumes them, so that a history of any length can be exported. */
async function* formatHistoryCsv(pages: AsyncIterable<readonly CreditTransaction[]>): AsyncGenerator<string> {
  yield formatCsvLine([...historyColumns, 'details'])
  for await (const transactions of pages) yield transactions.map(toLine).join('')
}

function toLine(transaction: CreditTransaction): string {
  const { metadata } = transaction
  const cells = historyColumns.map((name) => transaction[name] ?? '')
  return formatCsvLine([...cells, metadata ? JSON.stringify(metadata) : ''])
}
