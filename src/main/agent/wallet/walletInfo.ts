import { AppError } from '#shared/appError.ts'
import { findEvmNetwork, findSolanaNetwork, testLedgerNetwork, usdcDecimals } from '#shared/contract/networks.ts'
import type { Output } from '#shared/contract/route.ts'
import { getWalletInfo } from '#shared/contract/walletInfo.ts'
import { buildDepositLink } from '#shared/depositLink.ts'
import { toIsoTime } from '#shared/time.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { Balances } from './balances.ts'
import type { WalletKeys } from './walletKeys.ts'

type Options = {
  keys: Pick<WalletKeys, 'account'>
  balances: Pick<Balances, 'read'>
  /** Returns the balance in millionths of a test USDC. @throws if the service does not report it */
  testBalance: (address: string) => Promise<string>
  now: () => number
}
type Read = Pick<Output<typeof getWalletInfo>, 'usdc' | 'source' | 'as_of' | 'detail'>

/** Creates the endpoint that returns the default paying account and its balance. */
export function createWalletInfoRoute({ keys, balances, testBalance, now }: Options): LocalEndpoint {
  const ofTestLedger = async (address: string): Promise<Read> => {
    try {
      return { usdc: await testBalance(address), source: 'live', as_of: toIsoTime(now()), detail: null }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { usdc: null, source: 'stale', as_of: null, detail: error.message }
    }
  }
  const ofChain = async (accountId: string, network: string): Promise<Read> => {
    const { source, detail, balances: all } = await balances.read(network)
    const ownBalance = all.find((it) => it.account_id === accountId)
    return { usdc: ownBalance?.usdc ?? null, source, as_of: ownBalance?.as_of ?? null, detail }
  }

  return createLocalEndpoint(getWalletInfo, async ({ query }) => {
    const isLedger = query.network === testLedgerNetwork.id
    const network = isLedger ? testLedgerNetwork : (findEvmNetwork(query.network) ?? findSolanaNetwork(query.network))
    if (!network) throw new AppError('chain/unknown', `There is no network ${JSON.stringify(query.network)}.`)
    const chainId = 'chainId' in network ? network.chainId : null
    const { id, address } = keys.account(chainId === null ? 'solana' : 'evm')
    const read = isLedger ? await ofTestLedger(address) : await ofChain(id, network.id)
    return {
      ...read,
      ...{ address, network: network.id, network_name: network.name, chain_id: chainId, test: network.test },
      usdc_balance: read.usdc === null ? null : formatTokenAmount(BigInt(read.usdc), usdcDecimals),
      usdc_address: network.usdc.address,
      deposit_link: isLedger ? null : buildDepositLink(network, address),
    }
  })
}
