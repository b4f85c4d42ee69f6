import {
  type AutomatonProfile,
  canonicalizeProfile,
  registerText,
  registerTypedData,
} from '#shared/contract/automatons.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import { hasWrongChecksum, isSameEvmAddress } from './evmSignature.ts'
import {
  createInvalidIntentError,
  type IntentField,
  type IntentOf,
  type IntentTools,
  type ParsedIntent,
} from './parsedIntent.ts'
import { assertPlainText, listInvisibleWarnings, shorten } from './plainText.ts'
import { signSolana } from './solanaSignature.ts'
import { computeTypedDataHash, serializeTypedData } from './typedData.ts'

/** Signs typed data for EVM and the text of `registerText` for Solana, with the key of the automaton's address. */
export async function prepareIdentityRegistration(
  intent: IntentOf<'identity.register'>,
  tools: IntentTools,
): Promise<ParsedIntent> {
  const { profile, nonce, chain_type } = intent
  assertPlainText('profile.name', profile.name)
  assertPlainText('profile.bio', profile.bio, '\n\t')
  assertPlainText('nonce', nonce)
  const account = findAccount(intent, tools)
  const canonical = canonicalizeProfile(profile)
  const payloadHash = await hashText(canonical)
  const { genesis_prompt_hash, ...fields } = profile
  const { automaton_id: automatonId } = profile
  const typedData = {
    domain: { name: tools.domainName, version: registerTypedData.version, chainId: registerTypedData.chainId },
    types: registerTypedData.types,
    primaryType: registerTypedData.primaryType,
    message: { automatonId, nonce, payloadHash },
  }
  const text = registerText({ automatonId, nonce, payloadHash })

  return {
    prepared: {
      intent: { ...intent, account_id: account.id },
      account,
      sentence: `Register the automaton “${shorten(profile.name, 60)}” with the address ${shortenAddress(profile.automaton_address)} permanently.`,
      fields: [
        ...toProfileFields(profile),
        { label: 'Nonce', value: nonce, kind: 'text' },
        { label: 'Profile hash', value: payloadHash, kind: 'hash' },
        { label: 'Hashed text', value: canonical, kind: 'text' },
        ...(await listWarnings(profile)),
      ],
      raw: chain_type === 'evm' ? serializeTypedData(typedData) : text,
      host: null,
      amountMicroUsd: null,
    },
    async sign() {
      const signature =
        chain_type === 'evm'
          ? await tools.signEvm(account, await computeTypedDataHash(typedData))
          : await signSolana(tools.keys, account, text)
      return {
        kind: intent.kind,
        address: account.address,
        signature,
        registration: {
          ...fields,
          ...(genesis_prompt_hash !== undefined && { genesis_prompt_hash }),
          nonce,
          payload_hash: payloadHash,
          signature,
          ...(chain_type === 'solana' && { chain_type }), // services that support only EVM reject this field
        },
      }
    },
  }
}

/** Returns the keccak256 hash of the UTF-8 bytes. */
async function hashText(text: string): Promise<`0x${string}`> {
  const { keccak256 } = await import('ox/Hash')
  return keccak256(new TextEncoder().encode(text), { as: 'Hex' })
}

function findAccount({ account_id, profile, chain_type }: IntentOf<'identity.register'>, { keys }: IntentTools) {
  const { automaton_address: address } = profile
  const isIts = (signingAccount: SigningAccount) =>
    signingAccount.chainType === chain_type &&
    (chain_type === 'evm' ? isSameEvmAddress(signingAccount.address, address) : signingAccount.address === address)
  const named = account_id === undefined ? keys.accounts().find(isIts) : keys.account(chain_type, account_id)
  const account = named ?? keys.account(chain_type)
  if (isIts(account)) return account
  throw createInvalidIntentError(
    `profile.automaton_address ${address} is not ${account.address}, the ${chain_type} account that would sign.`,
  )
}

function toProfileFields(profile: AutomatonProfile): IntentField[] {
  const { automaton_id, automaton_address, creator_address, name, bio, genesis_prompt_hash } = profile
  return [
    { label: 'Name', value: name, kind: 'text' },
    { label: 'Bio', value: bio === '' ? 'None' : bio, kind: 'text' },
    { label: 'Automaton', value: automaton_id, kind: 'text' },
    { label: 'Address', value: automaton_address, kind: 'address' },
    { label: 'Creator', value: creator_address, kind: 'address' },
    ...(genesis_prompt_hash === undefined
      ? []
      : [{ label: 'Genesis prompt hash', value: genesis_prompt_hash, kind: 'hash' as const }]),
  ]
}

async function listWarnings({ creator_address: creator, name, bio }: AutomatonProfile): Promise<IntentField[]> {
  const invisible = [...listInvisibleWarnings('The name', name), ...listInvisibleWarnings('The bio', bio)]
  if (/^0x0{40}$/.test(creator)) {
    invisible.push({ label: 'Creator', value: 'The zero address has no owner.', kind: 'warning' })
  } else if (creator.startsWith('0x') && (await hasWrongChecksum(creator))) {
    invisible.push({ label: 'Creator', value: 'The checksum is wrong: compare every character.', kind: 'warning' })
  }
  return invisible
}
