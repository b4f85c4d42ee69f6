import type { EvmNetwork, SolanaNetwork } from './contract/networks.ts'

/**
 * What other wallets open to send USDC to an address; the amount is theirs to enter.
 * @returns EIP-681 (https://eips.ethereum.org/EIPS/eip-681) or Solana Pay (https://docs.solanapay.com/spec)
 */
export function depositLink(network: EvmNetwork | SolanaNetwork, address: string): string {
  return 'chainId' in network
    ? `ethereum:${network.usdc.address}@${network.chainId}/transfer?address=${address}`
    : `solana:${address}?spl-token=${network.usdc.address}`
}
