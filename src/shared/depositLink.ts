import type { EvmNetwork, SolanaNetwork } from './contract/networks.ts'

/**
 * Builds a link that other wallets open to send USDC to an address. The user enters the amount there.
 * @returns EIP-681 (https://eips.ethereum.org/EIPS/eip-681) or Solana Pay (https://docs.solanapay.com/spec)
 */
export function buildDepositLink(network: EvmNetwork | SolanaNetwork, address: string): string {
  return 'chainId' in network
    ? `ethereum:${network.usdc.address}@${network.chainId}/transfer?address=${address}`
    : `solana:${address}?spl-token=${network.usdc.address}`
}
