import { type AutomatonProfile, canonicalizeProfile, type RegistrationDraft } from '#shared/contract/automatons.ts'
import type { Intent } from '#shared/contract/intents.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'

type Options = { keys: Pick<WalletKeys, 'account'>; newUuid: () => string }
export type RegisterIntent = Extract<Intent, { kind: 'identity.register' }>

/**
 * Fills in omitted fields: a new id and the address of the signing account.
 * @throws AppError `wallet/absent`, `wallet/account-not-found`
 */
export function completeProfile(draft: RegistrationDraft, { keys, newUuid }: Options): Omit<RegisterIntent, 'nonce'> {
  const { account_id, chain_type, name, bio, genesis_prompt_hash } = draft
  const account = keys.account(chain_type, account_id)
  const profile: AutomatonProfile = {
    automaton_id: draft.automaton_id ?? newUuid(),
    automaton_address: account.address,
    creator_address: draft.creator_address ?? keys.account(chain_type).address,
    name,
    bio,
    ...(genesis_prompt_hash !== undefined && { genesis_prompt_hash }),
  }
  return { kind: 'identity.register', account_id: account.id, profile, chain_type }
}

/** Returns the keccak256 hash of the canonical JSON as UTF-8. */
export async function hashPayload(profile: AutomatonProfile): Promise<string> {
  const { keccak256 } = await import('ox/Hash')
  return keccak256(new TextEncoder().encode(canonicalizeProfile(profile)), { as: 'Hex' })
}
