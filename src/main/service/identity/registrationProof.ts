import { AppError } from '#shared/appError.ts'
import {
  canonicalProfile,
  type registerAutomaton,
  registerText,
  registerTypedData,
} from '#shared/contract/automatons.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { decodedText, isSignedByEvm, isSignedBySolana } from '../base/walletSignature.ts'

export type GivenRegistration = Parsed<typeof registerAutomaton>['body']

/**
 * Checks that the hash is that of the profile as it was sent, and that the automaton's own key signed it.
 * @param domainName name of the EIP-712 domain
 * @throws AppError `identity/hash`, `identity/signature`
 */
export async function checkProof(given: GivenRegistration, domainName: string): Promise<void> {
  const { keccak256 } = await import('ox/Hash')
  const hash = keccak256(new TextEncoder().encode(canonicalProfile(given)), { as: 'Hex' })
  if (hash !== given.payload_hash.toLowerCase()) throw new AppError('identity/hash', 'payload_hash does not match')
  const isSigned = given.chain_type === 'solana' ? await isSolanaSigned(given) : await isEvmSigned(given, domainName)
  if (!isSigned) throw new AppError('identity/signature', 'The signature is not that of `automaton_address`.')
}

async function isEvmSigned(given: GivenRegistration, name: string): Promise<boolean> {
  const { getSignPayload } = await import('ox/TypedData')
  const { version, chainId, types, primaryType } = registerTypedData
  const payload = getSignPayload({
    domain: { name, version, chainId },
    types,
    primaryType,
    message: {
      automatonId: given.automaton_id,
      nonce: given.nonce,
      payloadHash: given.payload_hash as `0x${string}`, // by the pattern of its schema
    },
  })
  return isSignedByEvm({ address: given.automaton_address, payload, signature: given.signature })
}

async function isSolanaSigned(given: GivenRegistration): Promise<boolean> {
  const { automaton_id: automatonId, nonce, payload_hash: payloadHash } = given
  return isSignedBySolana({
    publicKey: await decodedText('base58', given.automaton_address),
    message: new TextEncoder().encode(registerText({ automatonId, nonce, payloadHash })),
    signature: await decodedText('base58', given.signature),
  })
}
