import { createHash } from 'node:crypto'
import { testLedgerNetwork } from '#shared/contract/networks.ts'
import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import { alreadyUsed, expired, type Facilitator, type Settlement, tooLittle, wrongSignature } from './facilitator.ts'
import { isSignedByPayer, type PaymentAuthorization } from './paymentAuthorization.ts'
import type { TestMoneyRepository } from './testMoneyRepository.ts'

/**
 * Facilitator for test money in a table. It performs the checks of the USDC contract and has no access to real money.
 */
export type TestLedger = Facilitator & {
  /** Adds test money to an address. @returns the new balance of the address */
  give(address: string, amount: number): Promise<number>
  balance(address: string): number
  /** @returns the transaction that used this authorization, or undefined if it is unused */
  findTransaction(payer: string, nonce: string): string | undefined
  now(): number
}

export function createTestLedgerFacilitator(options: {
  records: TestMoneyRepository
  commits: Pick<GroupCommit, 'commitDurable'>
  now: () => number
}): TestLedger {
  const { records, commits, now } = options
  const network = testLedgerNetwork

  const moveFunds = (authorization: PaymentAuthorization): Settlement => {
    const { from: payer, to: payee, nonce, value, validAfter, validBefore } = authorization
    const amount = Number(value)
    const before = records.findTransfer(payer, nonce)
    if (before) {
      const isSame = before.payee === payee && before.amount === amount
      return isSame ? { state: 'settled', transaction: before.transactionHash } : { state: 'failed', ...alreadyUsed }
    }
    const nowSeconds = BigInt(Math.floor(now() / 1000))
    if (nowSeconds <= BigInt(validAfter) || nowSeconds >= BigInt(validBefore)) return { state: 'failed', ...expired }
    if (records.balance(payer) < amount) return { state: 'failed', ...tooLittle }
    const transaction = createTransactionHash(authorization)
    records.transfer({ payer, payee, nonce, amount, transactionHash: transaction, atMs: now() })
    return { state: 'settled', transaction }
  }

  return {
    network,
    async verify({ authorization: { from, nonce, value } }) {
      if (records.findTransfer(from, nonce)) return alreadyUsed
      return records.balance(from) < Number(value) ? tooLittle : undefined
    },
    async settle({ authorization }) {
      try {
        if (!(await isSignedByPayer(authorization, network))) return { state: 'failed', ...wrongSignature }
        return await commits.commitDurable(() => moveFunds(authorization))
      } catch {
        return { state: 'unknown', message: 'The test ledger is not writable.' }
      }
    },
    give: (address, amount) =>
      commits.commitDurable(() => {
        records.add(address.toLowerCase(), amount)
        return records.balance(address.toLowerCase())
      }),
    balance: (address) => records.balance(address.toLowerCase()),
    findTransaction: (payer, nonce) => records.findTransfer(payer.toLowerCase(), nonce.toLowerCase())?.transactionHash,
    now,
    close: async () => undefined,
  }
}

function createTransactionHash({ from, nonce, signature }: PaymentAuthorization): string {
  return `0x${createHash('sha256').update(`steward test ledger ${from} ${nonce} ${signature}`).digest('hex')}`
}
