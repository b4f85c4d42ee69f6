import { AppError } from '#shared/appError.ts'
import {
  canonicalizeProfile,
  type registerAutomaton,
  registerText,
  registerTypedData,
} from '#shared/contract/automatons.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { decodeBytes, isSignedByEvm, isSignedBySolana } from '../base/walletSignature.ts'

export type AutomatonRegistrationRequest = Parsed<typeof registerAutomaton>['body']

/**
 * Verifies the hash of the profile and the automaton's signature.
 * @param domainName name of the EIP-712 domain
 * @throws AppError `identity/hash`, `identity/signature`
 */
export async function checkProof(registration: AutomatonRegistrationRequest, domainName: string): Promise<void> {
  const { keccak256 } = await import('ox/Hash')
  const hash = keccak256(new TextEncoder().encode(canonicalizeProfile(registration)), { as: 'Hex' })
  if (hash !== registration.payload_hash.toLowerCase())
    throw new AppError('identity/hash', 'payload_hash does not match')
  const isSigned =
    registration.chain_type === 'solana'
      ? await isSolanaSigned(registration)
      : await isEvmSigned(registration, domainName)
  if (!isSigned) throw new AppError('identity/signature', 'The signature was not created by `automaton_address`.')
}

async function isEvmSigned(registration: AutomatonRegistrationRequest, name: string): Promise<boolean> {
  const { getSignPayload } = await import('ox/TypedData')
  const { version, chainId, types, primaryType } = registerTypedData
  const payload = getSignPayload({
    domain: { name, version, chainId },
    types,
    primaryType,
    message: {
      automatonId: registration.automaton_id,
      nonce: registration.nonce,
      payloadHash: registration.payload_hash as `0x${string}`, // ensured by the pattern of the schema
    },
  })
  return isSignedByEvm({ address: registration.automaton_address, payload, signature: registration.signature })
}

async function isSolanaSigned(registration: AutomatonRegistrationRequest): Promise<boolean> {
  const { automaton_id: automatonId, nonce, payload_hash: payloadHash } = registration
  return isSignedBySolana({
    publicKey: await decodeBytes('base58', registration.automaton_address),
    message: new TextEncoder().encode(registerText({ automatonId, nonce, payloadHash })),
    signature: await decodeBytes('base58', registration.signature),
  })
}
