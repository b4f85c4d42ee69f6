import { join } from 'node:path'
import { createSecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { getTestBalance } from '#shared/contract/payments.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createBalanceRepository } from '../wallet/balanceRepository.ts'
import { createBalanceRoutes } from '../wallet/balanceRoutes.ts'
import { createBalanceSources } from '../wallet/balanceSources.ts'
import { createBalances } from '../wallet/balances.ts'
import { openWallet } from '../wallet/openWallet.ts'
import { createWalletInfoRoute } from '../wallet/walletInfo.ts'
import { createWalletRepository } from '../wallet/walletRepository.ts'
import { createWalletRoutes } from '../wallet/walletRoutes.ts'
import type { KeyringRemoval, WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'

export type WalletModule = { wallet: WalletVault; endpoints: LocalEndpoint[] }

export function composeWallet(context: AgentContext, { removal }: { removal: KeyringRemoval }): WalletModule {
  const { dataFolder, config, database, client, events, activity, scope, now, clock } = context
  const wallet = scope.own(
    openWallet({
      repository: createWalletRepository(database),
      locator: createSecretStoreLocator({ folder: join(dataFolder, 'wallet'), setting: config.wallet.secret_store }),
      events,
      recordActivity: activity.record,
      removal,
      now,
      clock,
    }),
    (it) => it.close(),
  )
  const funds = createBalances({
    keys: wallet,
    repository: createBalanceRepository(database),
    sources: createBalanceSources(context),
    now,
  })
  const testBalance = async (address: string) => (await client.call(getTestBalance, { address })).balance
  const info = createWalletInfoRoute({ keys: wallet, balances: funds, testBalance, now })
  return { wallet, endpoints: [...createWalletRoutes(wallet), ...createBalanceRoutes(funds), info] }
}
