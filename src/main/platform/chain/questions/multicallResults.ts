import type { EvmNetwork } from '#shared/contract/networks.ts'
import { OtherNetwork } from '../failureFacts.ts'

/** Of one call within a multicall. All of them may fail where the contract of USDC is not: on another network. */
type Result<T> = { status: 'success'; result: T } | { status: 'failure'; error: unknown } | undefined

/** @throws OtherNetwork */
export function needNetwork({ chainId }: EvmNetwork, found: Result<unknown>): void {
  if (needed(found) !== BigInt(chainId)) throw new OtherNetwork(chainId)
}

/** @throws whatever the node, or the reader of its answer, said of this call */
export function needed<T>(result: Result<T>): T {
  if (result?.status === 'success') return result.result
  throw result?.error ?? new Error('A result is missing.')
}
