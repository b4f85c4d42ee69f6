import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { FamilyId } from './families.ts'
import { evmNetworks } from './networks.ts'
import { ModelServerId } from './providers.ts'
import { defineRoute } from './route.ts'
import { SecretName, ToolServerId } from './toolServers.ts'

/**
 * Wallet of the local user, in the local agent's API. Request and response bodies never contain phrases, private keys
 * or passphrases. The user enters and reads them in secure prompts (`openSecurePrompt`), pages on a separate origin,
 * which the window embeds in a frame that it cannot access.
 */

export const ChainType = z.enum(['evm', 'solana'], 'must be evm or solana')
export type ChainType = z.infer<typeof ChainType>

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-f]{24}$`), `must be an id that begins with ${prefix}_`)
/** Id of a keyring: `keys_` and hexadecimal digits. */
export const KeyringId = id('keys')
  .register(unknownIds, { code: 'wallet/keyring-not-found', message: (id) => `There is no phrase or key ${id}.` })
  .brand<'KeyringId'>()
export type KeyringId = z.infer<typeof KeyringId>
/** Id of a wallet account: `wal_` and hexadecimal digits. */
export const WalletAccountId = id('wal')
  .register(unknownIds, { code: 'wallet/account-not-found', message: (id) => `There is no account ${id}.` })
  .brand<'WalletAccountId'>()
export type WalletAccountId = z.infer<typeof WalletAccountId>

/** Label of a keyring or account: 1 to 64 visible characters after trimming. */
export const Label = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(64, 'must have at most 64 characters')
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, 'must not contain control characters')

/** Account of the wallet, with its address and derivation path. */
export const WalletAccount = z.object({
  id: WalletAccountId,
  keyring_id: KeyringId,
  chain_type: ChainType,
  /** EVM: with EIP-55 checksum. Solana: base58. */
  address: z.string(),
  /** Null for an imported private key. */
  derivation_path: z.string().nullable(),
  label: z.string(),
  created_at: IsoTime,
})
export type WalletAccount = z.infer<typeof WalletAccount>

/** Recovery phrase or private key with its accounts. */
export const Keyring = z.object({
  id: KeyringId,
  kind: z.enum(['phrase', 'private_key']),
  label: z.string(),
  /** Number of words of a recovery phrase. Null for private keys. */
  words: z.int().nullable(),
  /** Whether the user has proved that the phrase is written down. True for imported phrases. */
  written_down: z.boolean(),
  created_at: IsoTime,
  accounts: z.array(WalletAccount),
})
export type Keyring = z.infer<typeof Keyring>

/** State of the wallet. */
export const WalletState = z.enum([
  /** There is no wallet. */
  'absent',
  /** The passphrase is required. */
  'locked',
  'unlocked',
  /** The system keychain is locked. The user must unlock it in its own dialog and retry. */
  'keychain_locked',
  /** A wallet exists, but its keychain does not respond. */
  'keychain_unavailable',
  /** The stored wallet cannot be read. Steward does not overwrite it. */
  'damaged',
])
export type WalletState = z.infer<typeof WalletState>

/** Storage of the wallet's secrets. */
export const WalletBackend = z.object({
  kind: z.enum(['secret_service', 'macos_keychain', 'windows_credential_manager', 'vault_file']),
  /** Display name: `Secret Service (GNOME Keyring, KWallet)`, `Encrypted file`. */
  name: z.string(),
  /** Location of the store, or the reason why there is no keychain, as a sentence. */
  detail: z.string(),
})
export type WalletBackend = z.infer<typeof WalletBackend>

/** Wallet with its keyrings and accounts, without secrets. */
export const Wallet = z.object({
  state: WalletState,
  /** Explanation of the state, as a sentence. */
  detail: z.string().nullable(),
  backend: WalletBackend,
  /** Null: remains unlocked until it is locked manually or Steward exits. */
  auto_lock_minutes: z.int().nullable(),
  /** Default signing account of each chain. */
  default_accounts: z.object({ evm: WalletAccountId.nullable(), solana: WalletAccountId.nullable() }),
  keyrings: z.array(Keyring),
})
export type Wallet = z.infer<typeof Wallet>

export const getWallet = defineRoute({
  operation: 'walletGet',
  method: 'GET',
  path: '/local/wallet',
  summary: 'Get the state and accounts of the wallet',
  description:
    'Lists keyrings and accounts, even while the wallet is locked. Never returns secrets. API keys of the account can use this route.',
  tag: 'Wallet',
  auth: 'client',
  response: Wallet,
})

export const lockWallet = defineRoute({
  operation: 'walletLock',
  method: 'POST',
  path: '/local/wallet/lock',
  summary: 'Lock the wallet immediately',
  description:
    'Ends open secure prompts that show or change the wallet. Approved requests that are not signed yet wait until the wallet is unlocked. This request can be repeated safely.',
  example: {},
  tag: 'Wallet',
  auth: 'person',
  body: z.object({}),
  response: Wallet,
})

export const changeWallet = defineRoute({
  operation: 'walletChange',
  method: 'PATCH',
  path: '/local/wallet',
  summary: 'Update the auto-lock time or the default account of the wallet',
  description:
    'Omitted fields remain unchanged. Set `auto_lock_minutes` to null to turn auto-lock off. `default_account_id` becomes the default account of its chain. Fails with 404 `wallet/account-not-found`.',
  example: { auto_lock_minutes: 30 },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404],
  body: z.object({
    auto_lock_minutes: z.int().min(1, 'must be 1 to 1440').max(1440, 'must be 1 to 1440').nullable().optional(),
    default_account_id: WalletAccountId.optional(),
  }),
  response: Wallet,
})

export const addWalletAccount = defineRoute({
  operation: 'walletAccountAdd',
  method: 'POST',
  path: '/local/wallet/accounts',
  summary: 'Derive the next account of a recovery phrase',
  description:
    'The default label is numbered, such as `Account 2`. Fails with 423 `wallet/locked`, 404 `wallet/keyring-not-found`, or 400 `request/invalid` if the keyring is a private key.',
  example: { keyring_id: 'keys_3f9c0a71b2d84e56c7f01a2b', chain_type: 'evm', label: 'Savings' },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404, 409, 423],
  body: z.object({ keyring_id: KeyringId, chain_type: ChainType, label: Label.optional() }),
  response: Wallet,
  status: 201,
})

export const renameWalletAccount = defineRoute({
  operation: 'walletAccountRename',
  method: 'PATCH',
  path: '/local/wallet/accounts/:accountId',
  summary: 'Label an account',
  description:
    'Works even while the wallet is locked. Labels do not have to be unique. Fails with 404 `wallet/account-not-found`.',
  example: { label: 'Savings' },
  tag: 'Wallet',
  auth: 'person',
  params: z.object({ accountId: WalletAccountId }),
  body: z.object({ label: Label }),
  response: Wallet,
})

export const renameKeyring = defineRoute({
  operation: 'walletKeyringRename',
  method: 'PATCH',
  path: '/local/wallet/keyrings/:keyringId',
  summary: 'Label a recovery phrase or private key',
  description:
    'Works even while the wallet is locked. The user types this label to confirm a removal. Fails with 404 `wallet/keyring-not-found`.',
  example: { label: 'Hardware backup' },
  tag: 'Wallet',
  auth: 'person',
  params: z.object({ keyringId: KeyringId }),
  body: z.object({ label: Label }),
  response: Wallet,
})

/** Purpose of a secure prompt. Requests the passphrase if required. */
export const SecurePromptPurpose = z.enum([
  'create', // choose 12 or 24 words and a passphrase, then write the words down and confirm them
  'import', // phrase, private key or Keystore V3 file
  'unlock',
  'reveal', // show the phrase after the passphrase; also proves that it is written down
  'export', // export one EVM account as Keystore V3 with a separate password, after the passphrase
  'remove', // remove a keyring, after typing its label and the passphrase
  'change_passphrase',
  'confirm', // approve an intent above the threshold if there is no native dialog
  'provider_key', // set or replace the key of a model provider; the wallet may be locked
  'server_key', // key of the user's model server
  'tool_server_secret', // header or variable of an MCP server
  // relax the policy or end the emergency stop, as last requested by PUT /local/policy or POST /local/stop
  'confirm_policy',
])
export type SecurePromptPurpose = z.infer<typeof SecurePromptPurpose>

/**
 * Host name of secure prompts. A different site than the window's, so that browsers isolate them in a separate process.
 */
export const securePromptHostName = 'wallet.localhost'
/** Path of secure prompts, on their own origin. */
export const securePromptPath = '/prompt'
/** Messages that a secure prompt posts to the parent of its frame. */
export const SecurePromptMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('steward.secure-prompt.size'), height: z.number().min(0).max(4000) }),
  z.object({ type: z.literal('steward.secure-prompt.done') }),
  z.object({ type: z.literal('steward.secure-prompt.cancelled') }),
])
export type SecurePromptMessage = z.infer<typeof SecurePromptMessage>

export const openSecurePrompt = defineRoute({
  operation: 'securePromptOpen',
  method: 'POST',
  path: '/local/secure-prompts',
  summary: 'Create the address of a secure prompt',
  description:
    'The user enters or views a secret in the prompt. The address opens once, within a minute; the prompt then lasts at most ten minutes. Opening a fifth prompt ends the oldest. Fails with 409 `wallet/absent` if the purpose requires a wallet, or 404 for unknown ids.',
  example: { purpose: 'reveal', theme: 'dark', keyring_id: 'keys_3f9c0a71b2d84e56c7f01a2b' },
  tag: 'Wallet',
  auth: 'person',
  refusals: [404, 409],
  body: z.object({
    purpose: SecurePromptPurpose,
    theme: z.enum(['light', 'dark']),
    /** Only for `reveal` and `remove`. */
    keyring_id: KeyringId.optional(),
    /** Only for `export`. */
    account_id: WalletAccountId.optional(),
    /** Only for `confirm`. */
    intent_id: z.string().optional(),
    /** Only for `provider_key`. */
    family: FamilyId.optional(),
    /** Only for `server_key`. */
    server_id: ModelServerId.optional(),
    /** Only for `tool_server_secret`, with `secret_name`. */
    tool_server_id: ToolServerId.optional(),
    secret_name: SecretName.optional(),
  }),
  response: z.object({ url: z.string(), expires_at: IsoTime }),
  status: 201,
})

/** Balance of one EVM account on one network. */
export const Balance = z.object({
  account_id: WalletAccountId,
  address: z.string(),
  network: z.string(),
  /** Atomic units as decimal text: USDC has 6 decimals, ether 18, SOL (in lamports) 9. Null if never read. */
  usdc: z.string().nullable(),
  ether: z.string().nullable().describe('Balance in ether. Null on Solana.'),
  lamports: z.string().nullable().describe('Balance in lamports. Null on all networks except Solana.'),
  /** Time of the balances. Null if never read. */
  as_of: IsoTime.nullable(),
})
export type Balance = z.infer<typeof Balance>

export const getBalances = defineRoute({
  operation: 'walletBalances',
  method: 'GET',
  path: '/local/wallet/balances',
  summary: 'Get account balances on a network',
  description:
    'Reads the current balances of USDC and ether or SOL. If the network does not respond, returns the last known amounts with `source` `stale`. `network` is an id, slug or chain id. Fails with 400 `chain/unknown`.',
  tag: 'Wallet',
  auth: 'client',
  query: z.object({ network: z.string().default(evmNetworks[0].id) }),
  response: z.object({
    network: z.string(),
    /** `stale`: the network did not respond, for the reason in `detail`. */
    source: z.enum(['live', 'stale']),
    detail: z.string().nullable(),
    balances: z.array(Balance),
  }),
})

export const listNetworks = defineRoute({
  operation: 'walletNetworks',
  method: 'GET',
  path: '/local/wallet/networks',
  summary: 'List networks with their chain ids and USDC addresses',
  description:
    'Excludes the test ledger of the service. `rpc_host` contains only the host, because the URL of a node may contain a key.',
  tag: 'Wallet',
  auth: 'client',
  response: z.object({
    networks: z.array(
      z.object({
        id: z.string(),
        slug: z.string(),
        name: z.string(),
        chain_id: z.int().nullable().describe('Chain id. Null on Solana.'),
        test: z.boolean(),
        usdc_address: z.string(),
        /** Host of the RPC node. The rest of its URL may contain secrets. */
        rpc_host: z.string(),
      }),
    ),
  }),
})
