import { AppError } from '#shared/appError.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import type { SigningAccount, WalletKeys } from './walletKeys.ts'
import type { WalletLock } from './walletLock.ts'
import { type AccountRow, requireAccount, toAccountId, type WalletRepository } from './walletRepository.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WalletStatus } from './walletStatus.ts'

type Options = {
  repository: WalletRepository
  settings: Pick<WalletSettings, 'defaultAccount'>
  state: Pick<WalletStatus, 'absent'>
  walletLock: Pick<WalletLock, 'isOpen' | 'key'>
}

const chainNames: Record<ChainType, string> = { evm: 'EVM', solana: 'Solana' }

export function createSigningKeys({ repository, settings, state, walletLock }: Options): WalletKeys {
  return {
    account(chainType, id) {
      if (id !== undefined) return toSigningAccount(requireAccount(repository, id), chainType)
      const row = settings.defaultAccount(chainType)
      if (row) return toSigningAccount(row, chainType)
      if (repository.accounts().length === 0) throw state.absent()
      throw new AppError('wallet/account-not-found', `This wallet has no ${chainNames[chainType]} account.`)
    },
    accounts: () => repository.accounts().map((row) => toSigningAccount(row, row.chain_type)),
    isUnlocked: walletLock.isOpen,
    async withKey(id, use) {
      const key = await walletLock.key(requireAccount(repository, id))
      try {
        return await use(key)
      } finally {
        key.fill(0)
      }
    },
  }
}

function toSigningAccount(row: AccountRow, chainType: ChainType): SigningAccount {
  if (row.chain_type !== chainType) {
    throw new AppError('wallet/account-not-found', `${row.address} is not a ${chainNames[chainType]} account.`)
  }
  return { id: toAccountId(row), chainType, address: row.address, label: row.label }
}
