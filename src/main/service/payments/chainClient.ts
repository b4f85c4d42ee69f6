import type { EvmNetwork } from '../../../shared/contract/networks.ts'

/** Libraries of the chain, and clients for it. Loaded when first needed: the service starts without them. */
export async function chainClient({ network, rpcUrl }: { network: EvmNetwork; rpcUrl: string }) {
  const [viem, accounts] = await Promise.all([import('viem'), import('viem/accounts')])
  const chain = viem.defineChain({
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const transport = viem.http(rpcUrl, { timeout: 10_000, retryCount: 0 })
  return {
    viem,
    accounts,
    client: viem.createPublicClient({ chain, transport, cacheTime: 0 }),
    abi: viem.parseAbi(abiOfUsdc),
  }
}
export type ChainClient = Awaited<ReturnType<typeof chainClient>>

const abiOfUsdc = [
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
] as const

/** What a failure of the chain may say: an address of a node can hold a key, and stands in longer messages. */
export function chainFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown'
  const short = 'shortMessage' in failure ? String(failure.shortMessage) : failure.name
  return short.replace(/https?:\/\/\S+/g, '…').slice(0, 200)
}
