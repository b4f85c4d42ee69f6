import { getBalances, listNetworks } from '#shared/contract/wallet.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { Balances } from './balances.ts'

export function createBalanceRoutes(balances: Balances): LocalEndpoint[] {
  return [
    createLocalEndpoint(getBalances, ({ query }) => balances.read(query.network)),
    createLocalEndpoint(listNetworks, () => ({ networks: balances.networks() })),
  ]
}
