import {
  BaseError,
  ContractFunctionRevertedError,
  ExecutionRevertedError,
  HttpRequestError,
  ResponseBodyTooLargeError,
  RpcRequestError,
} from 'viem'
import type { ChainErrorDetails } from './chainError.ts'

/** Error for a node that serves another network than expected. */
export class WrongNetworkError extends Error {
  readonly chainId: number

  constructor(chainId: number) {
    super('The node serves another network.')
    this.chainId = chainId
  }
}

/** Extracts only kinds, codes and numbers. Messages of a node do not leave the thread. */
export function toChainErrorDetails(error: unknown): ChainErrorDetails {
  const chain = [...listCauses(error)]
  const first = <T>(kind: abstract new (...parameters: never[]) => T): T | undefined =>
    chain.find((it): it is T => it instanceof kind)
  const otherNetwork = first(WrongNetworkError)
  if (otherNetwork) return { kind: 'other-network', chainId: otherNetwork.chainId }
  if (first(ResponseBodyTooLargeError)) return { kind: 'too-large' }
  const refused = first(RpcRequestError)
  if (refused) return { kind: 'refused', code: refused.code }
  const request = first(HttpRequestError)
  if (request?.status !== undefined) return { kind: 'status', status: request.status }
  if (request && !first(SyntaxError)) return { kind: 'unreachable' }
  return { kind: 'unreadable' }
}

/** Whether the contract reverts the transfer. Nothing was sent. */
export function isContractRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  return [...listCauses(error)].some(
    (cause) => cause instanceof ContractFunctionRevertedError || cause instanceof ExecutionRevertedError,
  )
}

function* listCauses(error: unknown): Generator<unknown> {
  let next = error
  for (let depth = 0; depth < 20 && next !== undefined && next !== null; depth += 1) {
    yield next
    next = typeof next === 'object' && 'cause' in next ? next.cause : undefined
  }
}
