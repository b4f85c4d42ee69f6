import type { Database } from '../../storage/openDatabase.ts'

export type TestTransfer = {
  payer: string
  nonce: string
  payee: string
  amount: number
  transactionHash: string
  atMs: number
}

/** Addresses are in lower case. Each call is meant for a transaction of the caller. */
export type TestMoneyRepository = {
  balance(address: string): number
  add(address: string, amount: number): void
  findTransfer(payer: string, nonce: string): TestTransfer | undefined
  transfer(transfer: TestTransfer): void
}

export function testMoneyRepository(database: Database): TestMoneyRepository {
  const balance = database.prepare<[string], { balance: number }>('SELECT balance FROM test_money WHERE address = ?')
  const add = database.prepare<[string, number]>(
    `INSERT INTO test_money VALUES (?, ?) ON CONFLICT (address) DO UPDATE SET balance = balance + excluded.balance`,
  )
  const take = database.prepare<[number, string]>('UPDATE test_money SET balance = balance - ? WHERE address = ?')
  const find = database.prepare<[string, string], TestTransfer>(
    `SELECT payer, nonce, payee, amount, transaction_hash AS transactionHash, at_ms AS atMs
     FROM test_money_transfers WHERE payer = ? AND nonce = ?`,
  )
  const keep = database.prepare<[string, string, string, number, string, number]>(
    'INSERT INTO test_money_transfers VALUES (?, ?, ?, ?, ?, ?)',
  )
  return {
    balance: (address) => balance.get(address)?.balance ?? 0,
    add(address, amount) {
      add.run(address, amount)
    },
    findTransfer: (payer, nonce) => find.get(payer, nonce),
    transfer({ payer, nonce, payee, amount, transactionHash, atMs }) {
      keep.run(payer, nonce, payee, amount, transactionHash, atMs)
      take.run(amount, payer)
      add.run(payee, amount)
    },
  }
}
