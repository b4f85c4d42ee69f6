import { AppError } from '../../../shared/appError.ts'
import { evmNetwork } from '../../../shared/contract/networks.ts'
import type { Output } from '../../../shared/contract/route.ts'
import type { getBalances, listNetworks } from '../../../shared/contract/wallet.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Chain } from '../../platform/chain/chain.ts'
import type { BalanceRepository } from './balanceRepository.ts'
import type { SigningAccount, WalletKeys } from './walletKeys.ts'

export type Balances = {
  /**
   * From the network; where it does not answer, as last read.
   * @param network id, slug or chain id
   * @throws AppError `chain/unknown`
   */
  read(network: string): Promise<Output<typeof getBalances>>
  networks(): Output<typeof listNetworks>['networks']
}

type Parts = {
  keys: Pick<WalletKeys, 'accounts'>
  repository: BalanceRepository
  chains: readonly Pick<Chain, 'network' | 'host' | 'balances'>[]
  now: () => number
}

export function balances({ keys, repository, chains, now }: Parts): Balances {
  const underWay = new Map<string, Promise<string | null>>()

  /** @returns why it could not, as a sentence */
  const refresh = async (
    chain: Parts['chains'][number],
    accounts: readonly SigningAccount[],
  ): Promise<string | null> => {
    if (accounts.length === 0) return null
    try {
      const figures = await chain.balances(accounts.map(({ address }) => address))
      const asOfMs = now()
      repository.save(
        accounts.flatMap(({ id }, index) => {
          const of = figures[index]
          if (!of) return []
          return [{ accountId: id, network: chain.network.id, usdc: `${of.usdc}`, ether: `${of.ether}`, asOfMs }]
        }),
      )
      return null
    } catch (failure) {
      return failure instanceof Error ? failure.message : String(failure)
    }
  }
  /** Several that ask at once share one answer. */
  const refreshOnce = (chain: Parts['chains'][number], accounts: readonly SigningAccount[]): Promise<string | null> => {
    const key = [chain.network.id, ...accounts.map(({ id }) => id)].join()
    const running = underWay.get(key)
    if (running) return running
    const begun = refresh(chain, accounts).finally(() => underWay.delete(key))
    underWay.set(key, begun)
    return begun
  }

  return {
    async read(name) {
      const network = evmNetwork(name)
      const chain = chains.find((it) => it.network.id === network?.id)
      if (!network || !chain) throw new AppError('chain/unknown', `There is no network ${JSON.stringify(name)}.`)
      const accounts = keys.accounts().filter(({ chainType }) => chainType === 'evm')
      const detail = await refreshOnce(chain, accounts)
      const kept = repository.of(network.id)
      return {
        network: network.id,
        source: detail === null ? 'live' : 'stale',
        detail,
        balances: accounts.map(({ id, address }) => {
          const last = kept.find(({ accountId }) => accountId === id)
          return {
            account_id: id,
            address,
            network: network.id,
            usdc: last?.usdc ?? null,
            ether: last?.ether ?? null,
            as_of: last ? isoTime(last.asOfMs) : null,
          }
        }),
      }
    },
    networks: () =>
      chains.map(({ network: { id, slug, name, chainId, test, usdc }, host }) => ({
        ...{ id, slug, name, chain_id: chainId, test },
        usdc_address: usdc.address,
        rpc_host: host,
      })),
  }
}
