import { strict as assert } from 'node:assert'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { ModelState } from './ledgerModel.ts'

type AccountRow = { id: string; kind: string; posted: number; held: number }
type JournalRow = {
  id: string
  type: string
  debit: string
  credit: string
  amount: number
  debitBalance: number
  creditBalance: number
  holdId: number | null
  note: string
  details: string | null
}

/** Compares committed balances with the model, after every commit. */
export function checkBalances(database: Database, model: ModelState): void {
  const rows = database
    .prepare<[], AccountRow>('SELECT id, kind, credits - debits AS posted, held FROM credit_accounts')
    .all()
  for (const { id, kind, posted, held } of rows) {
    const expected = model.accounts.get(id) ?? { posted: 0, held: 0 }
    assert.deepEqual({ id, posted, held }, { id, ...expected }, 'a balance is wrong')
    if (kind === 'user') assert.ok(posted - held >= 0, `${id} is overdrawn`)
  }
}

/** Checks all invariants of the tables: replays the journal and compares the result with the model. */
export function checkEverything(database: Database, model: ModelState): void {
  checkBalances(database, model)
  const journal = readJournal(database)
  assert.deepEqual(
    journal.map(({ type, debit, credit, amount, holdId }) => ({ type, debit, credit, amount, holdId })),
    model.journal.map(({ type, debit, credit, amount, holdId }) => ({ type, debit, credit, amount, holdId })),
    'the journal is another one',
  )
  const running = new Map<string, number>()
  for (const { id, debit, credit, amount, debitBalance, creditBalance } of journal) {
    running.set(debit, (running.get(debit) ?? 0) - amount)
    running.set(credit, (running.get(credit) ?? 0) + amount)
    assert.deepEqual(
      [debitBalance, creditBalance],
      [running.get(debit), running.get(credit)],
      `the balances after ${id} are no running sum`,
    )
  }
  for (const [id, { posted }] of model.accounts) {
    assert.equal(running.get(id) ?? 0, posted, `the journal of ${id} does not add up to its balance`)
  }
  const charged = journal.flatMap(({ holdId }) => holdId ?? [])
  assert.equal(new Set(charged).size, charged.length, 'a hold was charged twice')
  checkHolds(database, model)
  checkDays(database, model)
  const days = database
    .prepare<[], { name: string; spent: number; held: number }>(
      `SELECT key_id || ' ' || day AS name, spent, held FROM credit_key_days ORDER BY name`,
    )
    .all()
  const expectedDays = [...model.days].map(([name, day]) => ({ name, ...day }))
  assert.deepEqual(
    days,
    expectedDays.sort((a, b) => (a.name < b.name ? -1 : 1)),
    'what a key spent is wrong',
  )
}

/** The sums of each day match the journal. */
function checkDays(database: Database, model: ModelState): void {
  const expected = new Map<string, { transfers: number; debits: number; credits: number }>()
  const count = (name: string, { debits = 0, credits = 0 }) => {
    const before = expected.get(name) ?? { transfers: 0, debits: 0, credits: 0 }
    const { transfers } = before
    const sums = { transfers: transfers + 1, debits: before.debits + debits, credits: before.credits + credits }
    expected.set(name, sums)
  }
  for (const { type, debit, credit, amount, atMs } of model.journal) {
    const day = Math.floor(atMs / 86_400_000)
    if (!debit.startsWith('service:')) count(`${debit} ${day} ${type}`, { debits: amount })
    if (!credit.startsWith('service:')) count(`${credit} ${day} ${type}`, { credits: amount })
  }
  const rows = database
    .prepare<[], { name: string; transfers: number; debits: number; credits: number }>(
      `SELECT account_id || ' ' || day || ' ' || type AS name, sum(transfers) AS transfers, sum(debits) AS debits,
         sum(credits) AS credits FROM credit_days GROUP BY 1`,
    )
    .all()
  const reported = new Map(rows.map(({ name, ...sums }) => [name, sums]))
  assert.deepEqual(reported, expected, 'the sums of the days are no sums of the journal')
}

function checkHolds(database: Database, model: ModelState): void {
  const holds = database
    .prepare<[], { id: number; account: string; amount: number; state: string }>(
      'SELECT id, account_id AS account, amount, state FROM credit_holds ORDER BY id',
    )
    .all()
  for (const { id, state } of holds) assert.equal(state, model.holds.get(id)?.state, `hold ${id} ended otherwise`)
  for (const [account, { held }] of model.accounts) {
    const open = holds.filter((hold) => hold.account === account && hold.state === 'open')
    assert.equal(
      open.reduce((sum, it) => sum + it.amount, 0),
      held,
      `the open holds of ${account} do not add up to what is held`,
    )
  }
}

export function readJournal(database: Database): JournalRow[] {
  return database
    .prepare<[], JournalRow>(
      `SELECT id, type, debit_account AS debit, credit_account AS credit, amount, debit_balance AS debitBalance,
         credit_balance AS creditBalance, hold_id AS holdId, description AS note, details
       FROM credit_transfers ORDER BY sequence`,
    )
    .all()
}
