import { createHash } from 'node:crypto'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import type { Store, Transaction } from '#storage/store.ts'
import { alreadyUsed, expired, type Facilitator, type Settlement, tooLittle, wrongSignature } from './facilitator.ts'
import { isSignedByPayer, type PaymentAuthorization } from './paymentAuthorization.ts'
import { testMoneyRepository } from './testMoneyRepository.ts'

/**
 * Facilitator for test money in a table. It performs the checks of the USDC contract and has no access to real money.
 */
export type TestLedger = Facilitator & {
  /** Adds test money to an address. @returns the new balance of the address */
  give(address: string, amount: number): Promise<number>
  balance(address: string): Promise<number>
  /** @returns the transaction that used this authorization, or undefined if it is unused */
  findTransaction(payer: string, nonce: string): Promise<string | undefined>
  now(): number
}

export function createTestLedgerFacilitator(options: { store: Store; now: () => number }): TestLedger {
  const { store, now } = options
  const network = testLedgerNetwork

  const moveFunds = async (tx: Transaction, authorization: PaymentAuthorization): Promise<Settlement> => {
    const { from: payer, to: payee, nonce, value, validAfter, validBefore } = authorization
    const amount = Number(value)
    const before = await testMoneyRepository.findTransfer(tx, payer, nonce)
    if (before) {
      const isSame = before.payee === payee && before.amount === amount
      return isSame ? { state: 'settled', transaction: before.transactionHash } : { state: 'failed', ...alreadyUsed }
    }
    const nowSeconds = BigInt(Math.floor(now() / 1000))
    if (nowSeconds <= BigInt(validAfter) || nowSeconds >= BigInt(validBefore)) return { state: 'failed', ...expired }
    if ((await testMoneyRepository.balance(tx, payer)) < amount) return { state: 'failed', ...tooLittle }
    const transaction = createTransactionHash(authorization)
    const transfer = { payer, payee, nonce, amount, transactionHash: transaction, atMs: now() }
    await testMoneyRepository.transfer(tx, transfer)
    return { state: 'settled', transaction }
  }

  return {
    network,
    async verify({ authorization: { from, nonce, value } }) {
      if (await testMoneyRepository.findTransfer(store.read, from, nonce)) return alreadyUsed
      return (await testMoneyRepository.balance(store.read, from)) < Number(value) ? tooLittle : undefined
    },
    async settle({ authorization }) {
      try {
        if (!(await isSignedByPayer(authorization, network))) return { state: 'failed', ...wrongSignature }
        return await store.write((tx) => moveFunds(tx, authorization), { isDurable: true })
      } catch {
        return { state: 'unknown', message: 'The test ledger is not writable.' }
      }
    },
    give: (address, amount) =>
      store.write(
        async (tx) => {
          await testMoneyRepository.add(tx, address.toLowerCase(), amount)
          return testMoneyRepository.balance(tx, address.toLowerCase())
        },
        { isDurable: true },
      ),
    balance: (address) => testMoneyRepository.balance(store.read, address.toLowerCase()),
    async findTransaction(payer, nonce) {
      const names = [payer.toLowerCase(), nonce.toLowerCase()] as const
      return (await testMoneyRepository.findTransfer(store.read, ...names))?.transactionHash
    },
    now,
    close: async () => undefined,
  }
}

function createTransactionHash({ from, nonce, signature }: PaymentAuthorization): string {
  return `0x${createHash('sha256').update(`steward test ledger ${from} ${nonce} ${signature}`).digest('hex')}`
}
