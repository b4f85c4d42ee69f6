import { type AutomatonProfile, canonicalizeProfile, type RegistrationDraft } from '#shared/contract/automatons.ts'
import type { Intent } from '#shared/contract/intents.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'

type Options = { keys: Pick<WalletKeys, 'account'>; newUuid: () => string }
export type RegisterIntent = Extract<Intent, { kind: 'identity.register' }>

/**
 * Fills in what the person left out: a new id, and the address of the account that signs.
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

/** keccak256 of the UTF-8 bytes of the canonical JSON. */
export async function hashPayload(profile: AutomatonProfile): Promise<string> {
  const { keccak256 } = await import('ox/Hash')
  return keccak256(new TextEncoder().encode(canonicalizeProfile(profile)), { as: 'Hex' })
}
