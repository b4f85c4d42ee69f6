import { join } from 'node:path'
import type { NotedEntry } from '#agent/base/note.ts'
import { openWallet } from '#agent/wallet/openWallet.ts'
import type { HeaderCost } from '#agent/wallet/vaultHeader.ts'
import { walletPlaces } from '#agent/wallet/walletPlaces.ts'
import { walletRepository } from '#agent/wallet/walletRepository.ts'
import type { WalletVault } from '#agent/wallet/walletVault.ts'
import { keychainSecretStore } from '#platform/keychainSecretStore.ts'
import { vaultFileSecretStore } from '#platform/vaultFileSecretStore.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/openDatabase.ts'

export type TestWallet = {
  wallet: WalletVault
  folder: string
  vaultFile: string
  notes: NotedEntry[]
  events: LocalEvent[]
  close(): void
}

type Options = {
  folder: string
  setting?: 'auto' | 'vault_file'
  now?: () => number
  cost?: HeaderCost
  /** Runs before a secret is written to the keychain; that fails as it does. */
  beforeWrite?: (written: { scopeName: string; name: string; value: string }) => void
  /** Runs before a secret of the vault file is read; the file fails as it does. */
  beforeRead?: (name: string) => Promise<void>
}

/** The least that a wallet may have: an eighth of the usual. */
const cheap: HeaderCost = { n: 2 ** 14, r: 8, p: 1 }

/** The wallet as the agent composes it, in a folder that may hold one already. */
export function walletOf(options: Options): TestWallet {
  const { folder, setting = 'vault_file', now = Date.now, cost = cheap } = options
  const { beforeRead = async () => {}, beforeWrite = () => {} } = options
  const database = openDatabase(join(folder, 'agent.sqlite'))
  migrate(database, agentMigrations)
  const notes: NotedEntry[] = []
  const events: LocalEvent[] = []
  const wallet = openWallet({
    repository: walletRepository(database),
    places: walletPlaces({
      folder: join(folder, 'wallet'),
      setting,
      keychain(scopeName) {
        const store = keychainSecretStore({ scopeName, platform: process.platform })
        return {
          ...store,
          async write(name, value) {
            beforeWrite({ scopeName, name, value })
            await store.write(name, value)
          },
        }
      },
      vaultFile(file) {
        const store = vaultFileSecretStore({ file })
        return { ...store, read: async (name) => beforeRead(name).then(() => store.read(name)) }
      },
    }),
    events: { publish: (event) => void events.push(event) },
    note: (entry) => void notes.push(entry),
    now,
    cost,
  })
  return {
    wallet,
    folder,
    vaultFile: join(folder, 'wallet', 'vault.json'),
    notes,
    events,
    close() {
      wallet.close()
      database.close()
    },
  }
}
