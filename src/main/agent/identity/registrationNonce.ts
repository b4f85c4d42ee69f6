import { type AutomatonProfile, automatonLimits, createAutomatonNonce } from '#shared/contract/automatons.ts'
import type { Policy } from '#shared/contract/intents.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

type Options = {
  client: Pick<ServiceClient, 'call'>
  policy: () => Policy
  newUuid: () => string
}

const answerMs = 3_000
/** Time reserved between the approval and the request to the service. */
const sendTimeoutMs = 60_000

/**
 * Returns a nonce bound to the creator if the service has one for that wallet, otherwise a random nonce, which is valid
 * too. Skips a bound nonce that may expire before the user decides.
 */
export async function requestRegistrationNonce(profile: AutomatonProfile, options: Options): Promise<string> {
  const { client, policy, newUuid } = options
  const outlives = policy().expiry_minutes * 60_000 + sendTimeoutMs <= automatonLimits.boundNonceMs
  const bound = outlives ? await fetchNonce(profile, client) : undefined
  return bound ?? newUuid()
}

async function fetchNonce(profile: AutomatonProfile, client: Options['client']): Promise<string | undefined> {
  const { automaton_id, creator_address: creator } = profile
  try {
    const signal = AbortSignal.timeout(answerMs)
    const { nonce, creator_address } = await client.call(createAutomatonNonce, { automaton_id }, { signal })
    return isSame(creator_address, creator) ? nonce : undefined
  } catch {
    return undefined // wallet not registered or service unavailable: use a random nonce
  }
}

function isSame(a: string, b: string): boolean {
  return a === b || (a.startsWith('0x') && a.toLowerCase() === b.toLowerCase())
}
