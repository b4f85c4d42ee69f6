import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { defineTable, number, type Params, type RowOf, text } from '#storage/table.ts'

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

const readBalance = defineStatement<Params<'address'>>(
  'SELECT balance FROM test_money WHERE address = @address',
).withRows(({ balance }) => Number(balance))
const addBalance = defineStatement<Params<'address' | 'balance'>>(
  `${balances.insert} ON CONFLICT (address) DO UPDATE SET balance = test_money.balance + excluded.balance`,
)
const subtract = defineStatement<Params<'address' | 'amount'>>(
  'UPDATE test_money SET balance = balance - @amount WHERE address = @address',
)
const findRow = defineStatement<Params<'payer' | 'nonce'>>(
  `SELECT ${transfers.selection()} FROM test_money_transfers WHERE payer = @payer AND nonce = @nonce`,
).withRows(transfers.fromRow)
const insertTransfer = defineStatement<Params<keyof TestTransfer>>(transfers.insert)

/** Addresses are in lower case. */
export const testMoneyRepository = {
  balance: async (query: Query, address: string): Promise<number> => (await query.first(readBalance, { address })) ?? 0,
  async add(tx: Transaction, address: string, amount: number): Promise<void> {
    await tx.run(addBalance, { address, balance: amount })
  },
  findTransfer: (query: Query, payer: string, nonce: string): Promise<TestTransfer | undefined> =>
    query.first(findRow, { payer, nonce }),
  async transfer(tx: Transaction, transfer: TestTransfer): Promise<void> {
    const { payer, payee, amount } = transfer
    await tx.run(insertTransfer, transfers.params(transfer))
    await tx.run(subtract, { address: payer, amount })
    await tx.run(addBalance, { address: payee, balance: amount })
  },
}
