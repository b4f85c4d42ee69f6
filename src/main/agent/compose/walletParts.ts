import { getTestBalance } from '#shared/contract/payments.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { balanceRepository } from '../wallet/balanceRepository.ts'
import { balanceRoutes } from '../wallet/balanceRoutes.ts'
import { balanceSources } from '../wallet/balanceSources.ts'
import { balances } from '../wallet/balances.ts'
import { openWallet } from '../wallet/openWallet.ts'
import { secretPlaces } from '../wallet/secretPlaces.ts'
import { walletInfoRoute } from '../wallet/walletInfo.ts'
import { walletRepository } from '../wallet/walletRepository.ts'
import { walletRoutes } from '../wallet/walletRoutes.ts'
import type { KeyringRemoval, WalletVault } from '../wallet/walletVault.ts'
import type { AgentGround } from './agentGround.ts'

export type WalletParts = { wallet: WalletVault; endpoints: LocalEndpoint[] }

/** The wallet, and what its accounts hold. */
export function walletParts(ground: AgentGround, { removal }: { removal: KeyringRemoval }): WalletParts {
  const { dataFolder, config, database, client, events, activity, scope, now, clock } = ground
  const wallet = scope.own(
    openWallet({
      repository: walletRepository(database),
      places: secretPlaces({ dataFolder, config }),
      events,
      note: activity.note,
      removal,
      now,
      clock,
    }),
    (it) => it.close(),
  )
  const funds = balances({
    keys: wallet,
    repository: balanceRepository(database),
    sources: balanceSources(ground),
    now,
  })
  const testBalance = async (address: string) => (await client.call(getTestBalance, { address })).balance
  const info = walletInfoRoute({ keys: wallet, balances: funds, testBalance, now })
  return { wallet, endpoints: [...walletRoutes(wallet), ...balanceRoutes(funds), info] }
}
