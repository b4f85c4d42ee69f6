import type { EvmNetwork } from '#shared/contract/networks.ts'
import { WrongNetworkError } from '../failureFacts.ts'

/** Result of one call within a multicall. On a network without the USDC contract, all calls may fail. */
type Result<T> = { status: 'success'; result: T } | { status: 'failure'; error: unknown } | undefined

/** @throws WrongNetworkError */
export function assertNetwork({ chainId }: EvmNetwork, reported: Result<unknown>): void {
  if (requireResult(reported) !== BigInt(chainId)) throw new WrongNetworkError(chainId)
}

/** @throws the error of this call */
export function requireResult<T>(result: Result<T>): T {
  if (result?.status === 'success') return result.result
  throw result?.error ?? new Error('A result is missing.')
}
