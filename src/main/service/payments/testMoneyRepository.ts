import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const balances = defineTable('test_money', { address: text(), balance: number() })
const transfers = defineTable('test_money_transfers', {
  payer: text(),
  nonce: text(),
  payee: text(),
  amount: number(),
  transactionHash: text(),
  atMs: number(),
})
export type TestTransfer = RowOf<typeof transfers>

/** Addresses are in lower case. Callers run each method in their transaction. */
export type TestMoneyRepository = {
  balance(address: string): number
  add(address: string, amount: number): void
  findTransfer(payer: string, nonce: string): TestTransfer | undefined
  transfer(transfer: TestTransfer): void
}

export function createTestMoneyRepository(database: Database): TestMoneyRepository {
  const balance = database.prepare<[Params<'address'>], { balance: number }>(
    'SELECT balance FROM test_money WHERE address = @address',
  )
  const add = database.prepare<[Params<'address' | 'balance'>]>(
    `${balances.insert} ON CONFLICT (address) DO UPDATE SET balance = test_money.balance + excluded.balance`,
  )
  const subtract = database.prepare<[Params<'address' | 'amount'>]>(
    'UPDATE test_money SET balance = balance - @amount WHERE address = @address',
  )
  const find = database.prepare<[Params<'payer' | 'nonce'>], StoredRow>(
    `SELECT ${transfers.selection()} FROM test_money_transfers WHERE payer = @payer AND nonce = @nonce`,
  )
  const addTransfer = database.prepare<[Params<keyof TestTransfer>]>(transfers.insert)
  return {
    balance: (address) => balance.get({ address })?.balance ?? 0,
    add: (address, amount) => void add.run({ address, balance: amount }),
    findTransfer(payer, nonce) {
      const row = find.get({ payer, nonce })
      return row && transfers.fromRow(row)
    },
    transfer(transfer) {
      const { payer, payee, amount } = transfer
      addTransfer.run(transfers.params(transfer))
      subtract.run({ address: payer, amount })
      add.run({ address: payee, balance: amount })
    },
  }
}
