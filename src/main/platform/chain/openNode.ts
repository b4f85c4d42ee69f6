import { createPublicClient, defineChain, http, parseAbi } from 'viem'
import type { ChainEndpoint } from './chainMessages.ts'

/** Same address on all supported networks: https://www.multicall3.com */
const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** Maximum size of a decompressed response. Receipts of bundled transactions are the largest. */
const maxAnswerBytes = 2 * 1024 * 1024

/** Creates a client for one query. Its signal aborts all requests of the query. */
export function openNode({ network, rpcUrl }: ChainEndpoint, signal: AbortSignal) {
  const chain = defineChain({
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: multicallAddress } },
  })
  const transport = http(rpcUrl, {
    ...{ retryCount: 0, timeout: 0, maxResponseBodySize: maxAnswerBytes },
    fetchOptions: { signal, redirect: 'manual' },
  })
  return {
    network,
    client: createPublicClient({ chain, transport, cacheTime: 0 }),
    usdc: { address: network.usdc.address, abi: usdcAbi },
    multicall: { address: multicallAddress, abi: multicallAbi },
  } as const
}
export type OpenNode = ReturnType<typeof openNode>

/** https://eips.ethereum.org/EIPS/eip-3009 */
export const usdcAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const multicallAbi = parseAbi([
  'function getChainId() view returns (uint256)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getEthBalance(address account) view returns (uint256)',
])
