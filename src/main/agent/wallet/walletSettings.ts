import { z } from 'zod'
import type { ChainType } from '#shared/contract/wallet.ts'
import { type AccountRow, toAccountId, type WalletRepository } from './walletRepository.ts'

const keys = {
  autoLockMinutes: 'wallet.auto_lock_minutes',
  defaults: 'wallet.default_accounts',
  removing: 'wallet.removing',
} as const

const defaultAutoLockMinutes = 15
const Minutes = z.int().nullable().catch(defaultAutoLockMinutes)
const Defaults = z.partialRecord(z.enum(['evm', 'solana']), z.string()).catch({})
const Names = z.array(z.string()).catch([])

export function createWalletSettings(repository: WalletRepository) {
  const minutes = (): number | null => {
    const value = repository.setting(keys.autoLockMinutes)
    return value === undefined ? defaultAutoLockMinutes : Minutes.parse(value)
  }
  const defaults = () => Defaults.parse(repository.setting(keys.defaults) ?? {})
  const removing = (): string[] => Names.parse(repository.setting(keys.removing) ?? [])

  return {
    autoLockMinutes: minutes,
    setAutoLockMinutes: (value: number | null): void => repository.set(keys.autoLockMinutes, value),
    /** Returns the selected account, or the first one of the chain. */
    defaultAccount(chainType: ChainType): AccountRow | undefined {
      const rows = repository.accounts().filter((it) => it.chain_type === chainType)
      return rows.find((it) => it.id === defaults()[chainType]) ?? rows[0]
    },
    defaultAccountId(chainType: ChainType) {
      const row = this.defaultAccount(chainType)
      return row ? toAccountId(row) : null
    },
    setDefault: (chainType: ChainType, id: string): void =>
      repository.set(keys.defaults, { ...defaults(), [chainType]: id }),
    /** Returns removed keyrings whose secrets may still be stored. */
    removing,
    removeKeyring(id: string): void {
      repository.atomically(() => {
        repository.removeKeyring(id)
        repository.set(keys.removing, [...removing(), id])
      })
    },
    removed: (id: string): void =>
      repository.set(
        keys.removing,
        removing().filter((it) => it !== id),
      ),
  }
}
export type WalletSettings = ReturnType<typeof createWalletSettings>
