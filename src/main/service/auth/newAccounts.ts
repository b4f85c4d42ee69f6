import { AccountId } from '#shared/ids.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Transaction } from '#storage/store.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { RecordEntry } from '../activity/recordedWrite.ts'
import { type WalletName, walletRepository } from './walletRepository.ts'

export type NewAccounts = {
  /**
   * Creates an account for a wallet without one.
   * @param how end of the sentence in the activity log
   */
  create(change: { tx: Transaction; record: RecordEntry }, wallet: WalletName, how: string): Promise<AccountId>
}

export function createNewAccounts(options: {
  accounts: Pick<AccountRepository, 'addAccount'>
  now: () => number
  randomBytes: (count: number) => Buffer
}): NewAccounts {
  const { accounts, now, randomBytes } = options
  return {
    async create({ tx, record }, wallet, how) {
      const accountId = AccountId.parse(`acct_${randomBytes(12).toString('hex')}`)
      const name = shortenAddress(wallet.address)
      await accounts.addAccount(tx, { id: accountId, role: 'user', name, createdAtMs: now() })
      await walletRepository.add(tx, { ...wallet, accountId, linkedAtMs: now(), linkedBy: null })
      await record(accountId, { type: 'account.created', description: `${name} ${how}.` })
      return accountId
    },
  }
}
