import type { EvmNetwork } from '#shared/contract/networks.ts'
import type { ChainQueries, QueryName } from './chain.ts'
import type { ChainErrorDetails } from './chainError.ts'

export type ChainEndpoint = { network: EvmNetwork; rpcUrl: string }

export type Query<K extends QueryName = QueryName> = {
  [N in K]: { name: N; request: ChainQueries[N]['query'] }
}[K]

export type ToChainWorker =
  | { type: 'query'; id: number; endpoint: ChainEndpoint; query: Query }
  | { type: 'stop'; id: number }

export type FromChainWorker =
  | { type: 'ready' }
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failure'; id: number; facts: ChainErrorDetails }
