import { randomUUID } from 'node:crypto'
import { keccak256 } from 'ox/Hash'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  type AutomatonProfile,
  canonicalizeProfile,
  registerText,
  registerTypedData,
} from '#shared/contract/automatons.ts'

export type RegistrationBody = AutomatonProfile & {
  nonce: string
  payload_hash: `0x${string}`
  signature: string
  chain_type?: 'evm' | 'solana'
}

export function createProfile(automatonAddress: string, fields: Partial<AutomatonProfile> = {}): AutomatonProfile {
  return {
    automaton_id: randomUUID(),
    automaton_address: automatonAddress,
    creator_address: automatonAddress,
    name: 'Ada',
    bio: 'Counts things.',
    ...fields,
  }
}

export function payloadHash(profile: AutomatonProfile): `0x${string}` {
  return keccak256(new TextEncoder().encode(canonicalizeProfile(profile)), { as: 'Hex' })
}

/** Signs as an independent client: typed data signed by viem. */
export async function signRegistration(
  account: PrivateKeyAccount,
  profile: AutomatonProfile,
  options: { nonce?: string; domainName?: string } = {},
): Promise<RegistrationBody> {
  const { nonce = randomUUID(), domainName: name = registerTypedData.defaultDomainName } = options
  const { version, chainId, types, primaryType } = registerTypedData
  const payload_hash = payloadHash(profile)
  const message = { automatonId: profile.automaton_id, nonce, payloadHash: payload_hash }
  const signature = await account.signTypedData({ domain: { name, version, chainId }, types, primaryType, message })
  return { ...profile, nonce, payload_hash, signature }
}

/** Returns the text that a Solana account signs. */
export function solanaText({ profile, nonce }: { profile: AutomatonProfile; nonce: string }): Uint8Array {
  const text = registerText({ automatonId: profile.automaton_id, nonce, payloadHash: payloadHash(profile) })
  return new TextEncoder().encode(text)
}
