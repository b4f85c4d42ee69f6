import { AccountId } from '#shared/ids.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { ActivityLog } from '../activity/activityLog.ts'
import type { WalletName, WalletRepository } from './walletRepository.ts'

export type NewAccounts = {
  /**
   * Creates an account for a wallet without one. Call it within a transaction.
   * @param how end of the sentence in the activity log
   */
  create(wallet: WalletName, how: string): AccountId
}

export function createNewAccounts(options: {
  accounts: Pick<AccountRepository, 'addAccount'>
  wallets: Pick<WalletRepository, 'add'>
  note: ActivityLog['recordForAccount']
  now: () => number
  randomBytes: (count: number) => Buffer
}): NewAccounts {
  const { accounts, wallets, note, now, randomBytes } = options
  return {
    create(wallet, how) {
      const accountId = AccountId.parse(`acct_${randomBytes(12).toString('hex')}`)
      const name = shortenAddress(wallet.address)
      accounts.addAccount({ id: accountId, role: 'user', name, createdAtMs: now() })
      wallets.add({ ...wallet, accountId, linkedAtMs: now(), linkedBy: null })
      note(accountId, { type: 'account.created', description: `${name} ${how}.` })
      return accountId
    },
  }
}
