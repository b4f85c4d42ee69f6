import { strict as assert } from 'node:assert'
import type { CreditLedger } from '#service/credits/creditLedger.ts'
import { AppError } from '#shared/appError.ts'
import type { MicroUsd } from '#shared/microUsd.ts'
import type { LedgerModel } from './ledgerModel.ts'

/** Wraps the real ledger and compares each result with the model. */
export function createCheckedLedger(real: CreditLedger, model: LedgerModel, newestId: () => number): CreditLedger {
  /**
   * @returns the result of the real ledger
   * @throws its refusal, if both refuse
   */
  const agree = <T>(refusal: string | undefined, work: () => T): T => {
    let value: T
    try {
      value = work()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      assert.equal(error.code, refusal, 'the ledger refused what it should not, or for another reason')
      throw error
    }
    assert.equal(refusal, undefined, 'the ledger did what it should have refused')
    return value
  }

  return {
    ...real,
    hold(request) {
      const spendable = Math.min(model.available(request.accountId), model.getRemaining(request.key)) as MicroUsd
      const amount = typeof request.amount === 'number' ? request.amount : request.amount(spendable)
      const hold = agree(model.refusesHold(request, amount), () => real.hold(request))
      assert.equal(hold.amount, amount, 'another amount was held')
      model.hold(hold.id, request, hold.amount)
      return hold
    },
    post(holdId, charge) {
      model.newestId = newestId()
      const expected = model.post(holdId, charge)
      const posted = real.post(holdId, charge)
      assert.equal(posted?.charged, expected, 'another amount was charged')
      return posted
    },
    void(holdId) {
      const expected = model.void(holdId)
      const ended = real.void(holdId)
      assert.equal(ended, expected, 'a hold was voided that had ended, or not voided')
      return ended
    },
    expire() {
      const expected = model.expire()
      const expired = real.expire()
      assert.equal(expired, expected, 'other holds expired')
      return expired
    },
    recover() {
      model.newestId = newestId()
      const expected = model.recover()
      const recovered = real.recover()
      assert.equal(recovered, expected, 'other holds were recovered')
      return recovered
    },
    charge(request) {
      model.newestId = newestId()
      const expected = Math.min(request.amount, model.available(request.accountId))
      const charged = real.charge(request)
      assert.equal(charged, expected, 'another amount was charged')
      const { type, accountId: debit, description } = request
      if (charged > 0) model.move({ type, debit, credit: 'service:revenue', amount: charged, note: description })
      return charged
    },
    transfer(request) {
      const { from, to, key, amount, note, requestKey = null } = request
      const before = model.findByRequestKey(request.requestKey)
      const poor = amount > model.available(from) ? 'credits/insufficient' : undefined
      const over = amount > model.getRemaining(key) ? 'credits/daily-limit' : undefined
      const row = agree(before ? undefined : (poor ?? over), () => real.transfer(request))
      if (before) {
        assert.equal(row.description, before.note, 'a repetition got another transfer')
        return row
      }
      model.spendOfDay(key, amount)
      model.move({ id: row.id, type: 'transfer', debit: from, credit: to, amount, note, requestKey })
      return row
    },
    issue(request) {
      const { type, to, amount, note, requestKey = null } = request
      const before = model.findByRequestKey(request.requestKey)
      const row = agree(undefined, () => real.issue(request))
      if (before) {
        assert.equal(row.description, before.note, 'a repetition got another transfer')
        return row
      }
      model.move({ id: row.id, type, debit: 'service:issued', credit: to, amount, note, requestKey })
      return row
    },
    adjust(request) {
      const { direction, to: account, amount, note, requestKey = null } = request
      const before = model.findByRequestKey(request.requestKey)
      const poor = direction === 'down' && amount > model.available(account) ? 'credits/insufficient' : undefined
      const row = agree(before ? undefined : poor, () => real.adjust(request))
      if (before) {
        assert.equal(row.description, before.note, 'a repetition got another adjustment')
        return row
      }
      const issued = 'service:issued'
      const [debit, credit] = direction === 'up' ? [issued, account] : [account, issued]
      model.move({ id: row.id, type: 'adjustment', debit, credit, amount, note, requestKey })
      return row
    },
    begin(request) {
      const id = `txn_start_${request.accountId}`
      const expected = !model.state.journal.some((it) => it.id === id)
      const begun = real.begin(request)
      assert.equal(begun, expected, 'the first credits were given again, or never')
      const { accountId: credit, amount, note } = request
      if (begun) model.move({ id, type: 'grant', debit: 'service:issued', credit, amount, note })
      return begun
    },
    refund(request) {
      const { transactionId, amount, note, requestKey = null } = request
      const refundable = model.refundable(transactionId)
      const before = refundable === undefined ? undefined : model.findByRequestKey(request.requestKey)
      const tooMuch = refundable === 0 || (amount ?? 0) > (refundable ?? 0) ? 'credits/refund' : undefined
      const unknown = refundable === undefined ? 'credits/transaction-not-found' : undefined
      const row = agree(before ? undefined : (unknown ?? tooMuch), () => real.refund(request))
      if (before) return row
      const moved = {
        id: row.id,
        type: 'refund',
        debit: 'service:revenue',
        credit: row.creditAccount,
        note,
        requestKey,
      }
      assert.equal(row.amount, amount ?? refundable, 'another amount was refunded')
      model.move({ ...moved, amount: row.amount, refundOf: transactionId })
      return row
    },
  }
}
