import type { EvmNetwork } from '#shared/contract/networks.ts'
import type { ChainQueries, QuestionName } from './chain.ts'
import type { ChainErrorDetails } from './chainError.ts'

export type ChainEndpoint = { network: EvmNetwork; rpcUrl: string }

export type Question<K extends QuestionName = QuestionName> = {
  [N in K]: { name: N; request: ChainQueries[N]['query'] }
}[K]

export type ToChainWorker =
  | { type: 'ask'; id: number; place: ChainEndpoint; question: Question }
  | { type: 'stop'; id: number }

export type FromChainWorker =
  | { type: 'ready' }
  | { type: 'answer'; id: number; answer: unknown }
  | { type: 'failure'; id: number; facts: ChainErrorDetails }
