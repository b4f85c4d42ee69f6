import type { EvmNetwork } from '../../../shared/contract/networks.ts'
import type { EvmRpc } from './evmRpc.ts'

type Address = `0x${string}`

/** In atomic units. */
export type Figures = { usdc: bigint; ether: bigint }

/** On every network that Steward knows: https://www.multicall3.com */
const multicall: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
const uint256 = /^0x[0-9a-f]{64}$/

/**
 * Reads all of them in one call, after the network has proven to be the one that is meant.
 * @returns in the order of `addresses`; rejects with a sentence for people
 */
export async function evmFigures(rpc: EvmRpc, network: EvmNetwork, addresses: readonly string[]): Promise<Figures[]> {
  const chain = await rpc.call('eth_chainId', [])
  if (typeof chain !== 'string' || Number(chain) !== network.chainId) {
    throw new Error(`${rpc.host} is of another network: its chain id is not ${network.chainId}.`)
  }
  const { encodeData, decodeResult, from } = await import('ox/AbiFunction')
  const aggregate = from(
    'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[] results)',
  )
  const balanceOf = from('function balanceOf(address account) view returns (uint256)')
  const getEthBalance = from('function getEthBalance(address account) view returns (uint256)')
  const calls = addresses.flatMap((it) => {
    const account = it as Address // an account's address, which the wallet made
    return [
      { target: network.usdc.address, allowFailure: false, callData: encodeData(balanceOf, [account]) },
      { target: multicall, allowFailure: false, callData: encodeData(getEthBalance, [account]) },
    ]
  })
  const answer = await rpc.call('eth_call', [{ to: multicall, data: encodeData(aggregate, [calls]) }, 'latest'])
  try {
    const results = decodeResult(aggregate, answer as Address) // decoding proves it
    const figure = (index: number): bigint => {
      const { success, returnData } = results[index] ?? { success: false, returnData: '0x' }
      if (!success || !uint256.test(returnData)) throw new Error('A figure is missing.')
      return BigInt(returnData)
    }
    return addresses.map((_, index) => ({ usdc: figure(2 * index), ether: figure(2 * index + 1) }))
  } catch (cause) {
    throw new Error(`${rpc.host} answered with figures that cannot be read.`, { cause })
  }
}
