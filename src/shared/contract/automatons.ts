import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { Reason } from './reason.ts'
import { defineRoute } from './route.ts'
import { ChainType, WalletAccountId } from './wallet.ts'

/** EIP-712 typed data of a registration. */
export const registerTypedData = {
  /** EIP-712 domain name that existing clients sign. Configurable as `identity.domain_name`. */
  defaultDomainName: 'AIWS Automaton',
  version: '1',
  chainId: 8453,
  types: {
    Register: [
      { name: 'automatonId', type: 'string' },
      { name: 'nonce', type: 'string' },
      { name: 'payloadHash', type: 'bytes32' },
    ],
  },
  primaryType: 'Register',
} as const

/** Maximum lengths in characters, and the lifetime of a bound nonce in milliseconds. */
export const automatonLimits = {
  nameCharacters: 128,
  bioCharacters: 4096,
  nonceCharacters: 128,
  boundNonceMs: 60 * 60_000,
} as const

const evmAddress = /^0x[0-9a-fA-F]{40}$/
const solanaAddress = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const Address = z
  .string()
  .refine(
    (value) => evmAddress.test(value) || solanaAddress.test(value),
    'must be 0x and 40 hexadecimal digits, or a Solana address',
  )
const Bytes32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
const AutomatonUuid = z
  .string()
  .regex(
    /^([0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/,
    'must be a UUID, with or without dashes',
  )
  .register(unknownIds, { code: 'identity/not-found', message: (id) => `No automaton ${id} is registered.` })

/** Rejects lone surrogates, which have no UTF-8 encoding and thus no hash. */
const wellFormed = /^\P{Cs}*$/u
const Text = (max: number) =>
  z.string().max(max, `must have at most ${max} characters`).regex(wellFormed, 'must be well-formed Unicode')

/** Profile that is hashed: exactly these fields, with sorted keys. */
export const AutomatonProfile = z.object({
  automaton_id: AutomatonUuid,
  automaton_address: Address,
  creator_address: Address,
  name: Text(automatonLimits.nameCharacters).min(1, 'must not be empty'),
  bio: Text(automatonLimits.bioCharacters),
  genesis_prompt_hash: Bytes32.optional(),
})
export type AutomatonProfile = z.infer<typeof AutomatonProfile>

/**
 * Returns the exact text that is hashed: JSON with sorted keys, without spaces, with the values as sent. Its UTF-8
 * bytes are hashed with keccak256.
 */
export function canonicalizeProfile(profile: AutomatonProfile): string {
  const { automaton_address, automaton_id, bio, creator_address, genesis_prompt_hash, name } = profile
  return JSON.stringify({
    automaton_address,
    automaton_id,
    bio,
    creator_address,
    ...(genesis_prompt_hash !== undefined && { genesis_prompt_hash }),
    name,
  })
}

/** Returns the exact text that a Solana account signs instead of typed data. */
export function registerText(fields: { automatonId: string; nonce: string; payloadHash: string }): string {
  return JSON.stringify({ automatonId: fields.automatonId, nonce: fields.nonce, payloadHash: fields.payloadHash })
}

/** Registered automaton. Its fields are public and immutable. */
export const Automaton = z.object({
  automaton_id: z.string(),
  name: z.string(),
  bio: z.string(),
  creator_address: z.string(),
  automaton_address: z.string(),
  genesis_prompt_hash: z.string().nullable(),
  chain_type: ChainType,
  status: z.literal('registered'),
  created_at: IsoTime,
})
export type Automaton = z.infer<typeof Automaton>

export const registerAutomaton = defineRoute({
  operation: 'automatonRegister',
  method: 'POST',
  path: '/v1/automatons/register',
  summary: 'Register an automaton, authorized by its signature',
  description: `\`payload_hash\` is keccak256 of the UTF-8 bytes of the canonical JSON: \`automaton_id\`, \`automaton_address\`, \`creator_address\`, \`name\`, \`bio\` and, if sent, \`genesis_prompt_hash\`, with sorted keys, no spaces and values as sent. The key of \`automaton_address\` creates \`signature\`: a 65-byte EIP-712 signature (low s) with primary type \`Register(string automatonId,string nonce,bytes32 payloadHash)\`, domain version 1 and chain 8453. If \`chain_type\` is \`solana\`, \`signature\` is a base58 Ed25519 signature over \`JSON.stringify({automatonId, nonce, payloadHash})\`. Errors are checked in this order: 400 for an invalid field, 400 \`payload_hash does not match\`, 401 for the signature, 403 for a nonce bound to another creator, 409 for a changed profile, 409 for a used or expired nonce. If the profile is already registered and every field is equal, returns its record, whatever the nonce. EVM addresses and hashes are compared without case. Otherwise, \`Profile <field> is immutable after registration\` names the first field that differs, in the order automaton_address, creator_address, name, bio, genesis_prompt_hash. An id with and without dashes is the same identity, returned as first sent.`,
  example: {
    automaton_id: '0b8e6b0c-6a0f-4d3c-9f0b-6d2f1f1c7a55',
    automaton_address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    creator_address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    name: 'Research agent',
    bio: 'Reads papers.',
    nonce: '6f1d9c52-37a4-4a58-8c0e-2b7d5e9f4a13',
    payload_hash: '0xe05929206f01ff771a79fc3c109d6ae0b478780863cde3dc4de3709c3b5af90d',
    signature:
      '0x1f0102cdf04009ec5d35ebd12f6705d09a7d1d4c225cf26ab29be8e668e654db5f65ea5b118414db5e404630e4978c0dc68f9cd95faef2f1ba6616e717f01ed41b',
  },
  tag: 'Identity',
  auth: 'none',
  refusals: [401, 403, 409],
  maxBodyBytes: 64 * 1024,
  body: AutomatonProfile.extend({
    nonce: Text(automatonLimits.nonceCharacters).min(1, 'must not be empty'),
    payload_hash: Bytes32,
    signature: z.string().min(1, 'must not be empty').max(512),
    chain_type: ChainType.optional(),
  }),
  response: z.object({ automaton: Automaton }),
})

export const createAutomatonNonce = defineRoute({
  operation: 'automatonNonce',
  method: 'POST',
  path: '/v1/automatons/nonce',
  summary: 'Create a registration nonce for the signed-in creator',
  idempotent: true,
  description: `The creator is the signed-in wallet or, for an API key, the first wallet of its account. Only registrations that name this creator can use the nonce. If \`automaton_id\` is set, only registrations of that automaton can use it. The nonce expires after 1 hour.`,
  example: { automaton_id: '0b8e6b0c-6a0f-4d3c-9f0b-6d2f1f1c7a55' },
  tag: 'Identity',
  body: z.object({ automaton_id: AutomatonUuid.optional() }),
  response: z.object({ nonce: z.string(), expires_at: IsoTime, creator_address: z.string() }),
})

export const listAutomatons = defineRoute({
  operation: 'automatonList',
  method: 'GET',
  path: '/v1/automatons',
  summary: 'List automatons whose creator or address is a wallet of this account',
  description:
    'First returns up to 1,000 automatons that have an address of the account or used a nonce bound to its wallet. Then returns up to 100 that only name the account as creator. Each group is sorted newest first.',
  tag: 'Identity',
  response: z.object({ automatons: z.array(Automaton), data: z.array(Automaton), count: z.int() }),
})

export const getAutomaton = defineRoute({
  operation: 'automatonGet',
  method: 'GET',
  path: '/v1/automatons/:id',
  summary: 'Get an automaton',
  description:
    'The identity is public: no credential is required. Dashes in the id are optional. Fails with 404 `identity/not-found` for an unknown id.',
  tag: 'Identity',
  auth: 'none',
  params: z.object({ id: AutomatonUuid }),
  response: z.object({ automaton: Automaton }),
})

/** Registration in progress at the local agent, which requests approval, signs and submits it. */
export const AutomatonRegistration = z.object({
  id: z.string(),
  intent_id: z.string(),
  profile: AutomatonProfile,
  chain_type: ChainType,
  nonce: z.string(),
  payload_hash: z.string(),
  state: z.enum(['waiting', 'sending', 'registered', 'refused', 'failed']),
  /** Reason of a refusal or an error, as a sentence. */
  detail: z.string().nullable(),
  automaton: Automaton.nullable(),
  created_at: IsoTime,
})
export type AutomatonRegistration = z.infer<typeof AutomatonRegistration>

/** Input of the registration form. The local agent fills in absent fields. */
export const RegistrationDraft = z.object({
  /** Account of the automaton. Default: the wallet's default account of the chain */
  account_id: WalletAccountId.optional(),
  automaton_id: AutomatonUuid.optional(),
  /** Default: the wallet's default account of the chain */
  creator_address: Address.optional(),
  name: AutomatonProfile.shape.name,
  bio: AutomatonProfile.shape.bio.default(''),
  genesis_prompt_hash: Bytes32.optional(),
  chain_type: ChainType.default('evm'),
})
export type RegistrationDraft = z.infer<typeof RegistrationDraft>

export const previewRegistration = defineRoute({
  operation: 'registrationPreview',
  method: 'POST',
  path: '/local/automatons/preview',
  summary: 'Preview the data that a registration signs',
  description:
    'Signs, stores and sends nothing. Absent fields get defaults: a new `automaton_id`, addresses of the default account. Fails with 409 `wallet/absent` without a wallet, and with 404 `wallet/account-not-found` for an unknown account.',
  example: { name: 'Research agent', bio: 'Reads papers.', chain_type: 'evm' },
  tag: 'Identity',
  auth: 'client',
  refusals: [404, 409],
  body: RegistrationDraft,
  response: z.object({
    profile: AutomatonProfile,
    chain_type: ChainType,
    canonical_json: z.string(),
    payload_hash: z.string(),
    /** EIP-712 typed data as JSON for EVM, the exact text for Solana. A new nonce is inserted when it is signed. */
    signed_data: z.string(),
  }),
})

export const startRegistration = defineRoute({
  operation: 'registrationStart',
  method: 'POST',
  path: '/local/automatons',
  summary: 'Request the signature of a registration and send it after approval',
  description: `\`intent_id\` is the id of the signing request. \`GET /local/intents/{intentId}\` reports its state. Steward sends the signed bytes unchanged until the service responds, also after a restart.`,
  example: { name: 'Research agent', bio: 'Reads papers.', chain_type: 'evm', reason: 'To sign my reports.' },
  tag: 'Identity',
  auth: 'client',
  refusals: [404],
  body: RegistrationDraft.extend({ reason: Reason.optional() }),
  response: AutomatonRegistration,
  status: 201,
  idempotent: true,
})

export const listRegistrations = defineRoute({
  operation: 'registrationList',
  method: 'GET',
  path: '/local/automatons',
  summary: 'List the registrations of this computer, newest first',
  description: 'Returns the newest 500 registrations, from forms and programs. Only the Steward window can list them.',
  tag: 'Identity',
  auth: 'person',
  response: z.object({ registrations: z.array(AutomatonRegistration) }),
})

export const retryRegistration = defineRoute({
  operation: 'registrationRetry',
  method: 'POST',
  path: '/local/automatons/:registrationId/send',
  summary: 'Send a signed registration again',
  description:
    'Sends the same bytes, so a second call never registers twice. Fails with 409 `registration/state` unless the state is `sending`. `sending` in the response means that the outcome is still unknown; `detail` gives the reason.',
  example: {},
  tag: 'Identity',
  auth: 'person',
  refusals: [409],
  params: z.object({ registrationId: z.string().min(1) }),
  body: z.object({}),
  response: AutomatonRegistration,
})
