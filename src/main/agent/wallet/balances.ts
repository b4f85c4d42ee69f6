import { AppError } from '#shared/appError.ts'
import { findEvmNetwork, findSolanaNetwork } from '#shared/contract/networks.ts'
import type { Output } from '#shared/contract/route.ts'
import type { getBalances, listNetworks } from '#shared/contract/wallet.ts'
import { toIsoTime } from '#shared/time.ts'
import type { BalanceRepository } from './balanceRepository.ts'
import type { BalanceSource } from './balanceSources.ts'
import type { SigningAccount, WalletKeys } from './walletKeys.ts'

export type Balances = {
  /**
   * Reads balances from the network, or the last known ones if it does not respond.
   * @param network id, slug or chain id
   * @throws AppError `chain/unknown`
   */
  read(network: string): Promise<Output<typeof getBalances>>
  networks(): Output<typeof listNetworks>['networks']
}

type Dependencies = {
  keys: Pick<WalletKeys, 'accounts'>
  repository: BalanceRepository
  sources: readonly BalanceSource[]
  now: () => number
}

export function createBalances({ keys, repository, sources, now }: Dependencies): Balances {
  const underWay = new Map<string, Promise<string | null>>()

  /** @returns the error as a sentence, or null */
  const refresh = async (source: BalanceSource, accounts: readonly SigningAccount[]): Promise<string | null> => {
    if (accounts.length === 0) return null
    try {
      const figures = await source.balances(accounts.map(({ address }) => address))
      const asOfMs = now()
      repository.save(
        accounts.flatMap(({ id }, index) => {
          const balance = figures[index]
          if (!balance) return []
          return [
            { accountId: id, network: source.network.id, usdc: `${balance.usdc}`, coin: `${balance.coin}`, asOfMs },
          ]
        }),
      )
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  /** Concurrent callers share one refresh. */
  const refreshOnce = (source: BalanceSource, accounts: readonly SigningAccount[]): Promise<string | null> => {
    const key = [source.network.id, ...accounts.map(({ id }) => id)].join()
    const running = underWay.get(key)
    if (running) return running
    const begun = refresh(source, accounts).finally(() => underWay.delete(key))
    underWay.set(key, begun)
    return begun
  }

  return {
    async read(name) {
      const network = findEvmNetwork(name) ?? findSolanaNetwork(name)
      const source = sources.find((it) => it.network.id === network?.id)
      if (!network || !source) throw new AppError('chain/unknown', `There is no network ${JSON.stringify(name)}.`)
      const kind = 'chainId' in network ? 'evm' : 'solana'
      const accounts = keys.accounts().filter(({ chainType }) => chainType === kind)
      const detail = await refreshOnce(source, accounts)
      const cachedBalances = repository.listByNetwork(network.id)
      return {
        network: network.id,
        source: detail === null ? 'live' : 'stale',
        detail,
        balances: accounts.map(({ id, address }) => {
          const last = cachedBalances.find(({ accountId }) => accountId === id)
          return {
            account_id: id,
            address,
            network: network.id,
            usdc: last?.usdc ?? null,
            ether: kind === 'evm' ? (last?.coin ?? null) : null,
            lamports: kind === 'solana' ? (last?.coin ?? null) : null,
            as_of: last ? toIsoTime(last.asOfMs) : null,
          }
        }),
      }
    },
    networks: () =>
      sources.map(({ network, host }) => ({
        ...{ id: network.id, slug: network.slug, name: network.name, test: network.test },
        chain_id: 'chainId' in network ? network.chainId : null,
        usdc_address: network.usdc.address,
        rpc_host: host,
      })),
  }
}
