import { AppError } from '../../../shared/appError.ts'
import {
  type CreditTransaction,
  getBalance,
  getPricing,
  grantCredits,
  listTransactions,
  refundCharge,
  transferCredits,
} from '../../../shared/contract/credits.ts'
import type { AccountId } from '../../../shared/ids.ts'
import { centsDown, centsUp, exactCents, formatUsd, microUsd, microUsdOfCents } from '../../../shared/microUsd.ts'
import { isoTime } from '../../../shared/time.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import { type Caller, type Endpoint, endpoint } from '../endpoint.ts'
import type { Credits } from './credits.ts'
import type { TransferRow } from './ledgerRepository.ts'
import { type KeyRules, keyLimitOf, rulesFor } from './openReservations.ts'
import type { PriceList } from './priceList.ts'

export function creditRoutes(options: {
  credits: Credits
  prices: PriceList
  sandboxesCharged: boolean
  rulesOf: (keyId: string) => KeyRules | undefined
  /** @throws AppError for a key with limits */
  needUnlimited: (caller: Caller) => void
  /** Whose wallet or account it is. */
  accountOf: (address: string) => AccountId | undefined
  noteAccount: ActivityLog['noteAccount']
}): Endpoint[] {
  const { credits, prices, rulesOf, needUnlimited, noteAccount } = options

  const recipient = (address: string): AccountId => {
    const accountId = options.accountOf(address)
    if (accountId) return accountId
    throw new AppError('credits/recipient-not-found', `No account here belongs to ${address}.`)
  }
  const balanceAfter = (row: TransferRow, accountId: AccountId): number =>
    exactCents(row.debitAccount === accountId ? row.debitBalance : row.creditBalance)

  return [
    endpoint(getBalance, (_, { caller }) => {
      const { posted, held, available } = credits.balance(caller.accountId)
      const balance_cents = centsDown(posted)
      return {
        balance_cents,
        credits_cents: balance_cents,
        formatted: formatUsd(microUsd(posted)),
        held_cents: centsUp(held),
        available_cents: centsDown(available),
      }
    }),
    endpoint(listTransactions, ({ query }, { caller }) => {
      const { transfers, total } = credits.history(caller.accountId, query)
      return { transactions: transfers.map((row) => toWire(row, caller.accountId)), total, ...query }
    }),
    endpoint(getPricing, () => ({
      tiers: prices.tiers,
      pricing: prices.tiers,
      payment_tiers: prices.paymentTiers,
      sandboxes_charged: options.sandboxesCharged,
    })),
    endpoint(transferCredits, async ({ body }, { caller, repeatable }) => {
      const { to_address, amount_cents, note = '' } = body
      const { accountId: from, keyId } = caller
      const to = recipient(to_address)
      if (to === from) throw new AppError('request/invalid', '`to_address` must be of another account.')
      const row = await credits.transfer({
        ...{ from, to, note, amount: microUsdOfCents(amount_cents), idempotencyKey: repeatable?.key },
        key: keyLimitOf(keyId, rulesFor(keyId, rulesOf)),
      })
      const amount = formatUsd(microUsd(row.amount))
      noteAccount(from, { type: 'credits.sent', description: `Sent ${amount} to ${to_address}` })
      return {
        transfer_id: row.id,
        status: 'completed',
        ...{ to_address, amount_cents, balance_after_cents: balanceAfter(row, from) },
      }
    }),
    endpoint(grantCredits, async ({ body }, { caller, repeatable }) => {
      needUnlimited(caller)
      const { to_address, amount_cents, note = '' } = body
      const to = recipient(to_address)
      const row = await credits.grant({
        ...{ by: caller.accountId, to, note, amount: microUsdOfCents(amount_cents), idempotencyKey: repeatable?.key },
      })
      const amount = formatUsd(microUsd(row.amount))
      noteAccount(caller.accountId, { type: 'credits.granted', description: `Granted ${amount} to ${to_address}` })
      const { posted } = credits.balance(caller.accountId)
      return {
        transfer_id: row.id,
        status: 'completed',
        to_address,
        amount_cents,
        balance_after_cents: to === caller.accountId ? exactCents(row.creditBalance) : exactCents(posted),
      }
    }),
    endpoint(refundCharge, async ({ body }, { caller, repeatable }) => {
      needUnlimited(caller)
      const { transaction_id: transactionId, amount_cents, note = '' } = body
      const row = await credits.refund({
        ...{ by: caller.accountId, transactionId, note, idempotencyKey: repeatable?.key },
        amount: amount_cents === undefined ? undefined : microUsdOfCents(amount_cents),
      })
      noteAccount(caller.accountId, {
        type: 'credits.refunded',
        description: `Refunded ${exactCents(row.amount)} cents of ${transactionId}`,
      })
      return {
        refund_id: row.id,
        status: 'completed',
        transaction_id: transactionId,
        amount_cents: exactCents(row.amount),
      }
    }),
  ]
}

/** A key with limits was made so that its holder cannot do everything. */
export function unlimitedOnly(rulesOf: (keyId: string) => KeyRules | undefined): (caller: Caller) => void {
  return ({ keyId }) => {
    const rules = rulesFor(keyId, rulesOf)
    if (!rules || (rules.models === null && rules.dailyLimit === null)) return
    throw new AppError('auth/forbidden', 'An API key with limits may not give credits.')
  }
}

function toWire(row: TransferRow, accountId: AccountId): CreditTransaction {
  const isSpent = row.debitAccount === accountId
  const direction = isSpent ? 'transfer_out' : 'transfer_in'
  return {
    id: row.id,
    type: row.type === 'transfer' ? direction : row.type,
    // Without a minus zero.
    amount_cents: exactCents(isSpent ? 0 - row.amount : row.amount),
    description: row.description,
    created_at: isoTime(row.atMs),
    balance_after_cents: exactCents(isSpent ? row.debitBalance : row.creditBalance),
    ...(row.details !== null && { metadata: JSON.parse(row.details) as CreditTransaction['metadata'] }), // we wrote it
  }
}
