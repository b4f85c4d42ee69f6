import {
  type Automaton,
  createAutomatonNonce,
  getAutomaton,
  listAutomatons,
  registerAutomaton,
} from '#shared/contract/automatons.ts'
import { toIsoTime } from '#shared/time.ts'
import { createEndpoint, createOpenEndpoint, createSignInEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { AutomatonRecord } from './automatonRepository.ts'
import type { Automatons } from './automatons.ts'

export function createAutomatonRoutes(automatons: Automatons): Endpoint[] {
  return [
    createSignInEndpoint(registerAutomaton, async ({ body }, { openQuota }) => ({
      automaton: toWire(await automatons.register(body, await openQuota('automaton'))),
    })),
    createOpenEndpoint(getAutomaton, async ({ params }) => ({ automaton: toWire(await automatons.get(params.id)) })),
    createEndpoint(listAutomatons, async (_, { caller }) => {
      const listed = (await automatons.ofAccount(caller.accountId)).map(toWire)
      return { automatons: listed, data: listed, count: listed.length }
    }),
    createEndpoint(createAutomatonNonce, async ({ body }, { caller, openQuota }) => {
      const count = await openQuota('nonce')
      count()
      const { nonce, expiresAtMs, creatorAddress } = await automatons.bindNonce(caller, body.automaton_id)
      return { nonce, expires_at: toIsoTime(expiresAtMs), creator_address: creatorAddress }
    }),
  ]
}

function toWire(record: AutomatonRecord): Automaton {
  return {
    automaton_id: record.sentId,
    name: record.name,
    bio: record.bio,
    creator_address: record.creatorAddress,
    automaton_address: record.automatonAddress,
    genesis_prompt_hash: record.genesisPromptHash,
    chain_type: record.chainType,
    status: 'registered',
    created_at: toIsoTime(record.createdAtMs),
  }
}
