import { AppError } from '#shared/appError.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import type { PlantedBug } from './ledgerHistory.ts'

type Replacement = readonly [text: string, by: string]

/**
 * Replaces text in statements and the schema. Check `unused` afterwards: a text that no longer occurs plants no bug.
 */
function rewriteSql(...replacements: Replacement[]): { sql: (text: string) => string; unused: () => string[] } {
  const unused = new Set(replacements.map(([text]) => text))
  return {
    sql: (sql) =>
      replacements.reduce((text, [from, to]) => {
        if (text.includes(from)) unused.delete(from)
        return text.replaceAll(from, to)
      }, sql),
    unused: () => [...unused],
  }
}

/**
 * Constraints of the tables, which would reject many bugs. They are removed so that the histories have to find the
 * effects.
 */
const noGuards: readonly Replacement[] = [
  ["CHECK (kind = 'service' OR credits - debits - held >= 0)", 'CHECK (1)'],
  ['CHECK (held >= 0), -- the sum', ', -- the sum'],
  ["BEFORE UPDATE ON credit_holds WHEN OLD.state <> 'open'", 'BEFORE UPDATE ON credit_holds WHEN 0'],
  ['hold_id INTEGER UNIQUE', 'hold_id INTEGER'],
]

/** Bugs known from other ledgers, and one for each guarantee of this ledger. */
export const plantedBugs: Readonly<Record<string, PlantedBug & { unused?: () => string[] }>> = {
  'holds are left out of the balance check (blnkfinance/blnk#181)': rewriteSql(...noGuards, [
    'credits - debits - held AS available',
    'credits - debits AS available',
  ]),
  'holds are left out of the balance check, and the tables refuse it': rewriteSql([
    'credits - debits - held AS available',
    'credits - debits AS available',
  ]),
  'a refused hold is applied (blnkfinance/blnk#182)': {
    ledger: (real) => ({
      ...real,
      hold(request) {
        try {
          return real.hold(request)
        } catch (error) {
          real.charge({ accountId: request.accountId, type: 'sandbox', description: 'refused', amount: toMicroUsd(1) })
          throw error
        }
      },
    }),
  },
  'a void counts twice (blnkfinance/blnk#41)': rewriteSql(
    ...noGuards,
    ["FROM credit_holds WHERE id = @id AND state = 'open'", 'FROM credit_holds WHERE id = @id'],
    ["WHERE id = @id AND state = 'open'", 'WHERE id = @id'],
  ),
  'a balance is read before others commit (blnkfinance/blnk#171)': {
    ledger: (real, model) => {
      let read: number | undefined
      return {
        ...real,
        transfer(request) {
          const stale = read ?? model.available(request.from)
          read = model.available(request.from)
          if (request.amount > stale) throw new AppError('credits/insufficient', 'Insufficient credits')
          return real.transfer(request)
        },
      }
    },
  },
  'a restart refills the daily limit of a key': {
    ledger: (real) => {
      let isFirst = true
      return {
        ...real,
        hold(request) {
          const hold = real.hold(
            isFirst && request.key ? { ...request, key: { ...request.key, dailyLimit: undefined } } : request,
          )
          isFirst = false
          return hold
        },
      }
    },
  },
  'the first credits come again with every start': {
    ledger: (real) => ({
      ...real,
      begin: ({ accountId: to, amount, note }) =>
        real.issue({ type: 'grant', to, amount, note, requestKey: undefined }).amount === amount,
    }),
  },
  'more than the hold is charged, whatever the balance is': {
    ...rewriteSql(...noGuards, [
      'credits - debits - held AS available',
      'credits - debits - held + 50000 AS available',
    ]),
  },
  'open holds are forgotten at the start': { ledger: (real) => ({ ...real, recover: () => 0 }) },
  'a hold is charged again at each start': rewriteSql(
    ...noGuards,
    [
      "FROM credit_holds INDEXED BY credit_holds_open\n     WHERE state = 'open' ORDER BY id",
      "FROM credit_holds WHERE state <> 'voided' ORDER BY id",
    ],
    ["FROM credit_holds WHERE id = @id AND state = 'open'", 'FROM credit_holds WHERE id = @id'],
  ),
  'a repetition is another transfer': {
    ledger: (real) => ({ ...real, transfer: (request) => real.transfer({ ...request, requestKey: undefined }) }),
  },
  'a transfer is told before it is on the disk': {
    commits: (real) => ({ ...real, commitDurable: (work) => real.commit(work) }),
  },
  'a flush does nothing': { flushesNothing: true },
  'a failed flush is taken for one that worked': { ignoresFailedFlushes: true },
  'expired holds keep their money': rewriteSql([
    "WHERE state = 'open' AND expires_at_ms <= @nowMs",
    "WHERE state = 'open' AND expires_at_ms <= 0 * @nowMs",
  ]),
  'a charge is refunded twice': rewriteSql(['WHERE refund_of = @id', "WHERE refund_of = @id || 'x'"]),
  'only one side of a transfer is posted': rewriteSql([
    'SET credits = credits + @amount, entries',
    'SET credits = credits + 0 * @amount, entries',
  ]),
  'the balance after a transfer leaves out its debits': rewriteSql([
    'WHERE id = @account\n     RETURNING credits - debits AS balance',
    'WHERE id = @account\n     RETURNING credits AS balance',
  ]),
  'an adjustment goes the other way': {
    ledger: (real) => ({ ...real, adjust: (request) => real.adjust({ ...request, direction: 'up' }) }),
  },
  'the sums of the days leave out a debit': rewriteSql(['debits = debits + excluded.debits', 'debits = debits + 0']),
  'what a key spent is not counted': rewriteSql(['SET spent = spent + @spent', 'SET spent = spent + 0 * @spent']),
  'what a key holds is not given back': rewriteSql(['held = held + @held', 'held = held + max(0, @held)']),
}
