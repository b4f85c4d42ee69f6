import { getBalances, listNetworks } from '#shared/contract/wallet.ts'
import { type LocalEndpoint, localEndpoint } from '../base/localEndpoint.ts'
import type { Balances } from './balances.ts'

export function createBalanceRoutes(balances: Balances): LocalEndpoint[] {
  return [
    localEndpoint(getBalances, ({ query }) => balances.read(query.network)),
    localEndpoint(listNetworks, () => ({ networks: balances.networks() })),
  ]
}
