import type { Chain, Limits } from '#platform/chain/chain.ts'
import { ChainError } from '#platform/chain/chainError.ts'
import { alreadyUsed, expired, type Settlement, type SignedPayment } from './facilitator.ts'

/** The search may read the logs of many blocks. */
const searchWithinMs = 60_000

/**
 * Looks up an authorization on the chain, regardless of its submitter.
 * @returns `unused` if it can still settle
 * @throws if the chain cannot be read
 */
export async function readChainOutcome(
  { chain, now, blocksAtOnce, limits }: Asking,
  { authorization, createdAtMs }: SignedPayment,
): Promise<Settlement | { state: 'unused' }> {
  const { signature: _, ...terms } = authorization
  const query = { ...terms, sinceMs: createdAtMs, nowMs: now(), blocksAtOnce }
  const outcome = await chain.authorizationOutcome(query, { ...limits, withinMs: searchWithinMs })
  switch (outcome.state) {
    case 'unused':
      return { state: 'unused' }
    case 'paid':
      return { state: 'settled', transaction: outcome.transaction }
    case 'expired':
      return { state: 'failed', ...expired }
    case 'cancelled':
    case 'used-otherwise':
      return { state: 'failed', ...alreadyUsed }
    case 'used':
      return { state: 'unknown', message: 'The authorization was used, but its transaction has not been found yet.' }
  }
}
type Asking = { chain: Chain; now: () => number; blocksAtOnce?: bigint | undefined; limits?: Limits }

/** Describes an error for the log, without text from a node. */
export function describeChainError(error: unknown): string {
  if (error instanceof ChainError) return `${error.kind}: ${error.message}`
  return error instanceof Error ? error.name : 'unknown'
}
