import { z } from 'zod'
import { AccountId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { ChainType } from './wallet.ts'

/** Lifetimes in milliseconds, and maximum lengths in characters. */
export const authLimits = {
  nonceMs: 5 * 60_000,
  accessMs: 60 * 60_000,
  refreshMs: 30 * 24 * 60 * 60_000,
  messageCharacters: 4096,
  signatureCharacters: 512,
} as const

const text = (name: string, max: number) =>
  z.string(`must be the ${name}`).min(1, 'must not be empty').max(max, `must have at most ${max} characters`)
const SignIn = z.object({
  message: text('signed message', authLimits.messageCharacters),
  signature: text('signature', authLimits.signatureCharacters),
  chain_type: ChainType.optional(),
})

/** Tokens of a sign-in. Each use of the refresh token replaces both tokens; a repeated use ends the sign-in. */
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Lifetime of the access token, in seconds. */
  expires_in: z.int(),
})
export type Tokens = z.infer<typeof Tokens>

export const createNonce = defineRoute({
  operation: 'authNonce',
  method: 'POST',
  path: '/v1/auth/nonce',
  aliases: ['/auth/nonce', '/auth/solana/nonce', '/v1/auth/solana/nonce'],
  summary: 'Create a nonce for a sign-in',
  description: `The nonce is valid for ${authLimits.nonceMs / 60_000} minutes and one attempt, even if that attempt fails. By default, one network can create 20,000 nonces in 24 hours. Fails with 429 \`request/rate\` above that limit.`,
  tag: 'Authentication',
  auth: 'none',
  response: z.object({ nonce: z.string(), expires_at: IsoTime }),
})

export const verifySignIn = defineRoute({
  operation: 'authVerify',
  method: 'POST',
  path: '/v1/auth/verify',
  aliases: ['/auth/verify'],
  summary: 'Sign in with a signed message from an Ethereum or Solana wallet',
  description:
    'Accepts EIP-4361 messages; for Solana, set `chain_type`. Fails with 401 `auth/nonce` for a used nonce, and with 400 `auth/verification` for any other invalid input. A wallet without an account gets one, or 403 `auth/account-requested` until the owner allows it.',
  example: {
    message:
      'localhost:8080 wants you to sign in with your Ethereum account:\n0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n\n\nURI: http://localhost:8080\nVersion: 1\nChain ID: 8453\nNonce: 4f8a1c0be27d35964f8a1c0be27d3596\nIssued At: 2026-01-31T12:00:00.000Z',
    signature:
      '0x0f276ea5d6264ed024b4a876accff46ddabb66346cd2cc6ee2f44271ad4d299e4738bfb5d1d51de7030a074f7a3e4674e191d7a0cbb1c5973254bb69243faec71b',
  },
  tag: 'Authentication',
  auth: 'none',
  refusals: [401],
  body: SignIn,
  response: Tokens,
})

export const verifySolanaSignIn = defineRoute({
  operation: 'authSolanaVerify',
  method: 'POST',
  path: '/v1/auth/solana/verify',
  aliases: ['/auth/solana/verify'],
  summary: 'Sign in with a signed message from a Solana wallet',
  description:
    'Works like `POST /v1/auth/verify` with `chain_type` `solana`, including errors. The signature is base58 or base64. A message needs only domain, address and nonce.',
  example: {
    message:
      'localhost:8080 wants you to sign in with your Solana account:\n9cDMW4ZGH9rktUGtdGkCG61pC3dy8bS4JEBicYCvbWaJ\n\nNonce: 4f8a1c0be27d35964f8a1c0be27d3596',
    signature: '2jtUWsHXtKy6sqoGkmGcGHDiXkkZ1N9Kzzgmj2w8ABryzvLoQt82Za3S5TuoJtrcxmRF9QvzC4QGCyu6gfbMuYET',
  },
  tag: 'Authentication',
  auth: 'none',
  refusals: [401],
  body: SignIn.omit({ chain_type: true }),
  response: Tokens,
})

export const refreshTokens = defineRoute({
  operation: 'authRefresh',
  method: 'POST',
  path: '/v1/auth/refresh',
  aliases: ['/auth/refresh'],
  summary: 'Exchange a single-use refresh token for a new token pair',
  description: `The access token is valid for ${authLimits.accessMs / 60_000} minutes, the refresh token for ${authLimits.refreshMs / (24 * 60 * 60_000)} days. A used refresh token fails with 401 \`auth/refresh\` and ends its entire sign-in. API keys created by the sign-in stay valid.`,
  example: { refresh_token: 'srt_EXAMPLE' },
  tag: 'Authentication',
  auth: 'none',
  refusals: [401],
  body: z.object({ refresh_token: text('refresh token', 1024) }),
  response: Tokens,
})

export const signOut = defineRoute({
  operation: 'authLogout',
  method: 'POST',
  path: '/v1/auth/logout',
  aliases: ['/auth/logout'],
  summary: 'Sign out',
  description:
    'Ends all tokens of the sign-in, with its terminal links and port tokens. API keys created by the sign-in stay valid. Succeeds for an unknown or expired token too.',
  example: { refresh_token: 'srt_EXAMPLE' },
  tag: 'Authentication',
  auth: 'none',
  body: z.object({ refresh_token: text('refresh token', 1024) }),
  response: z.object({ success: z.literal(true) }),
})

/** Wallet that can sign in to the account. */
export const LinkedWallet = z.object({
  wallet_address: z.string(),
  wallet_type: ChainType,
  /** CAIP-10 account id. */
  caip10: z.string(),
  linked_at: IsoTime,
  linked_by: z
    .string()
    .nullable()
    .default(null)
    .describe('Address of the wallet whose sign-in linked this wallet, if any.'),
})
export type LinkedWallet = z.infer<typeof LinkedWallet>

/** Maximum number of sign-ins in one query. */
export const maxSignInIds = 100
const signInId = '[\\w-]{1,64}'
/** Id of a sign-in, shared by its refresh tokens and the access tokens created from them. */
const SignInId = z.string().regex(new RegExp(`^${signInId}$`), 'must be the id of a sign-in')

/** Account of the credential. */
export const Me = z.object({
  id: AccountId,
  /**
   * Address of the wallet that signed in, otherwise the first one of the account. Null if the account has no wallet.
   */
  wallet_address: z.string().nullable(),
  wallet_type: ChainType.nullable(),
  email: z.null(),
  name: z.string().nullable(),
  role: z.enum(['user', 'owner']),
  wallets: z.array(LinkedWallet),
  /** API key of the request. Null for a token. */
  api_key: z
    .object({
      ...{ id: z.string(), name: z.string(), key_prefix: z.string() },
      limited: z.boolean().optional().describe('Whether the API key is limited to some models or has a daily limit.'),
    })
    .nullable(),
  /** Sign-in of the token. Null for an API key. Absent in earlier services. */
  sign_in_id: SignInId.nullable().optional(),
  /** Active sign-ins among `sign_in_ids`. Absent unless requested in the query. */
  active_sign_in_ids: z.array(SignInId).max(maxSignInIds).optional(),
})
export type Me = z.infer<typeof Me>

export const getMe = defineRoute({
  operation: 'authMe',
  method: 'GET',
  path: '/v1/auth/me',
  aliases: ['/auth/me'],
  summary: 'Get the account of the current credential',
  description:
    'For an API key, `wallet_address` is the first linked wallet, or null if the account has no wallet. Wallets are sorted by time of linking, oldest first.',
  tag: 'Authentication',
  query: z.object({
    sign_in_ids: z
      .string()
      .regex(new RegExp(`^${signInId}(?:,${signInId})*$`), 'must be ids of sign-ins with commas between them')
      .refine((ids) => ids.split(',').length <= maxSignInIds, `must have at most ${maxSignInIds} ids`)
      .optional()
      .describe('Comma-separated ids of sign-ins of the account. The response names those that have not ended.'),
  }),
  response: Me,
})

export const linkWallet = defineRoute({
  operation: 'authWalletLink',
  method: 'POST',
  path: '/v1/auth/wallets',
  summary: 'Link a wallet to this account with a signed sign-in message',
  description:
    'The wallet can then sign in to this account. Returns the existing link if the wallet is already linked. Fails with 409 `auth/wallet-linked` for a wallet of another account. Sign-in errors apply too.',
  example: {
    message:
      'localhost:8080 wants you to sign in with your Ethereum account:\n0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n\n\nURI: http://localhost:8080\nVersion: 1\nChain ID: 8453\nNonce: 4f8a1c0be27d35964f8a1c0be27d3596\nIssued At: 2026-01-31T12:00:00.000Z',
    signature:
      '0x0f276ea5d6264ed024b4a876accff46ddabb66346cd2cc6ee2f44271ad4d299e4738bfb5d1d51de7030a074f7a3e4674e191d7a0cbb1c5973254bb69243faec71b',
  },
  idempotent: true,
  tag: 'Authentication',
  auth: 'account',
  refusals: [409],
  body: SignIn,
  response: LinkedWallet,
  status: 201,
})

export const unlinkWallet = defineRoute({
  operation: 'authWalletUnlink',
  method: 'DELETE',
  path: '/v1/auth/wallets/:address',
  summary: 'Unlink a wallet from this account and end its sign-ins',
  description:
    'Revokes API keys created by these sign-ins, with the terminal links and port tokens of both. Wallets that these sign-ins linked stay linked and are listed in `linked_wallets`.',
  tag: 'Authentication',
  auth: 'account',
  params: z.object({ address: z.string().min(1).max(64) }),
  response: z.object({
    success: z.literal(true),
    wallet_address: z.string(),
    /** API keys created by sign-ins of the wallet. */
    revoked_api_keys: z.array(z.object({ id: z.string(), name: z.string() })).default([]),
    linked_wallets: z
      .array(z.string())
      .default([])
      .describe(
        'Addresses of wallets linked by its sign-ins. They stay linked. Unlink wallets that you do not recognize.',
      ),
    message: z.string(),
  }),
})
