import type { ChainType } from '../../../shared/contract/wallet.ts'

export type SignInWords = {
  chainType: ChainType
  domain: string
  address: string
  statement: string | undefined
  uri: string
  chainId: string
  nonce: string
  issuedAt: string
  expirationTime: string
}

/**
 * What is signed to sign in. Without a statement, EIP-4361 has two empty lines and Solana's has one.
 * @see https://eips.ethereum.org/EIPS/eip-4361
 * @see https://github.com/phantom/sign-in-with-solana
 */
export function signInText(words: SignInWords): string {
  const { chainType, domain, address, statement, uri, chainId, nonce, issuedAt, expirationTime } = words
  const stated = statement === undefined ? (chainType === 'evm' ? [''] : []) : [statement, '']
  return [
    `${domain} wants you to sign in with your ${chainType === 'evm' ? 'Ethereum' : 'Solana'} account:`,
    address,
    '',
    ...stated,
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    `Expiration Time: ${expirationTime}`,
  ].join('\n')
}
