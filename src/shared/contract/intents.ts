import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { AutomatonProfile } from './automatons.ts'
import { Reason } from './reason.ts'
import { defineRoute } from './route.ts'
import { ChainType, WalletAccountId } from './wallet.ts'

/**
 * Everything that the wallet signs. An intent describes the purpose; the signer encodes the bytes from built-in tables.
 * The policy applies to every requester: allow, ask the user, or deny.
 */

export const IntentKind = z.enum(['identity.register', 'siwe', 'siws', 'x402.authorize', 'message', 'tool.call'])
export type IntentKind = z.infer<typeof IntentKind>

/** Signing account. Default: the default account of the chain */
const account = { account_id: WalletAccountId.optional() }
/** Placeholder for intents without an account. */
export const noAccount = WalletAccountId.parse(`wal_${'0'.repeat(24)}`)

const Text = (max: number) => z.string().min(1, 'must not be empty').max(max)
const SignIn = {
  ...account,
  /** RFC 3986 authority of the requesting site: `example.com`, `127.0.0.1:4000`. */
  domain: Text(255),
  uri: z.url('must be an address').max(2048),
  nonce: z.string().regex(/^[A-Za-z0-9]{8,128}$/, 'must be 8 to 128 letters and digits'),
  statement: Text(512).optional(),
  issued_at: IsoTime.optional(),
  expiration_time: IsoTime.optional(),
}

/** Request for a signature, by kind. */
export const Intent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('identity.register'),
    ...account,
    profile: AutomatonProfile,
    nonce: Text(128),
    chain_type: ChainType.default('evm'),
  }),
  z.object({ kind: z.literal('siwe'), ...SignIn, chain_id: z.int().positive().default(8453) }),
  z.object({ kind: z.literal('siws'), ...SignIn, chain_id: z.string().max(64).default('mainnet') }),
  z.object({
    kind: z.literal('x402.authorize'),
    ...account,
    /** `eip155:8453` or `base`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp` or `solana`. Must be a supported network. */
    network: Text(64),
    pay_to: z
      .string()
      .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, 'must be 0x and 40 hexadecimal digits, or base58'),
    /** Solana only: account that submits the transaction and pays its fee. */
    fee_payer: z
      .string()
      .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be an address in base58')
      .optional(),
    /** Solana only: memo requested by the seller. */
    memo: Text(256).optional(),
    /**
     * EVM networks only: selects the scheme `upto`, with Permit2. Only this address can settle it, for `amount` or
     * less.
     */
    facilitator: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
      .optional(),
    /** Atomic units of USDC, decimal: `1000000` is 1 USDC. */
    amount: z.string().regex(/^[1-9]\d{0,17}$/, 'must be a decimal number of atomic units, above 0'),
    resource: z.url('must be an address').max(2048),
    description: Text(512).optional(),
    /** Values above 300 are clamped. */
    valid_seconds: z.int().min(1).default(300),
  }),
  /** Signs the text unchanged (EIP-191, or Ed25519). Only the user may request it. */
  z.object({ kind: z.literal('message'), ...account, text: Text(8192), chain_type: ChainType.default('evm') }),
  /**
   * Approval for a destructive tool call. Nothing is signed, so no wallet is needed. Only the tool executor may request
   * it.
   */
  z.object({
    kind: z.literal('tool.call'),
    ...account,
    tool: Text(64),
    /** Effect of the call, as a sentence. */
    sentence: Text(2048),
    /** Subject of the call. Equal for calls that one approval may cover. */
    target: Text(255),
    /** Exact arguments as JSON. */
    arguments: z.string().max(64 * 1024),
  }),
])
export type Intent = z.infer<typeof Intent>
/** Intent before parsing. Fields with defaults are optional. */
export type IntentInput = z.input<typeof Intent>

/** Signed result. Signatures are 0x-prefixed hexadecimal for EVM, base58 for Solana. */
export const SignedIntent = z.object({
  kind: IntentKind,
  address: z.string(),
  /** Signature. For `tool.call`, which is not signed, the hexadecimal SHA-256 of the approved call. */
  signature: z.string(),
  /** Exact signed text of `siwe`, `siws` and `message`. */
  message: z.string().optional(),
  /** Body for POST /v1/automatons/register, for `identity.register`. */
  registration: z.record(z.string(), z.string()).optional(),
  /**
   * EIP-3009 authorization of `x402.authorize`, with numbers as decimal text. On Solana, `nonce` contains block hash
   * and signature.
   */
  authorization: z
    .object({
      from: z.string(),
      to: z.string(),
      value: z.string(),
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: z.string(),
    })
    .optional(),
  /** Permit2 terms of `x402.authorize` with a facilitator. `nonce` above is then decimal. */
  permit: z.object({ token: z.string(), spender: z.string(), facilitator: z.string() }).optional(),
  /** Solana transaction of `x402.authorize`, in base64, without the signature of the fee payer. */
  transaction: z.string().optional(),
})
export type SignedIntent = z.infer<typeof SignedIntent>

/** Kind of a requester. `person`: the user. `client`: an API key. `tool`: a chat or tool client. `agent`: Steward. */
export const RequesterKind = z.enum(['person', 'client', 'tool', 'agent'])
export type RequesterKind = z.infer<typeof RequesterKind>
/** Requester. `client`: a program with an API key of this account. */
export const Requester = z.object({
  ...{ kind: RequesterKind, id: z.string(), name: z.string() },
  sign_in: z.string().optional().describe('Sign-in at the service, for a client with an access token.'),
  limited: z
    .boolean()
    .optional()
    .describe(
      'Whether the requester is an API key with limits or a program in a sandbox. No rule allows requests from such a requester.',
    ),
})
export type Requester = z.infer<typeof Requester>

/** State of an intent. Only `waiting` and `approved` can change. */
export const IntentState = z.enum([
  'waiting',
  /** Approved; signing is in progress. */
  'approved',
  'signed',
  'denied',
  'expired',
  /** Approved, but signing failed. */
  'failed',
])
export type IntentState = z.infer<typeof IntentState>

/** Signing request with its content, evaluation, decision and result. */
export const IntentRecord = z.object({
  id: z.string(),
  kind: IntentKind,
  state: IntentState,
  requester: Requester,
  /** Reason in the requester's words. */
  reason: z.string().nullable(),
  account_id: WalletAccountId,
  address: z.string(),
  /** Complete summary as a sentence: "Pay 5.00 USDC to 0x12…ab on Base for https://…" */
  sentence: z.string(),
  fields: z.array(
    z.object({
      label: z.string(),
      value: z.string(),
      /** Display format. `warning`: a value that needs attention. */
      kind: z.enum(['text', 'address', 'hash', 'amount', 'time', 'url', 'warning']),
    }),
  ),
  /** Exact data to sign: typed data as JSON, or the text. */
  raw: z.string(),
  host: z.string().nullable(),
  /** Payee and network of a payment (CAIP-10), or chain of a sign-in (CAIP-2). Null for other kinds. */
  scope: z.string().nullable(),
  path: z
    .string()
    .nullable()
    .optional()
    .describe('Path of the resource that a payment buys, such as `/domains/register`. Null for other requests.'),
  /** Amount in micro-dollars (1 USD = 1,000,000) as decimal text. Null if no money is transferred. */
  amount_micro_usd: z.string().nullable(),
  purchase: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'Item that a payment buys at the service, such as `domain:example.com`. Identical for requests for the same item.',
    ),
  /** Whether the amount exceeds the threshold. The user then confirms in a dialog that the window cannot draw. */
  needs_confirmation: z.boolean(),
  created_at: IsoTime,
  expires_at: IsoTime,
  decision: z
    .object({
      by: z
        .enum(['person', 'policy', 'grant', 'stop', 'steward'])
        .describe('The user, a policy rule, a remembered approval, the stop switch, or a built-in rule.'),
      /** Matching rule or grant, as a sentence. */
      detail: z.string(),
      at: IsoTime,
    })
    .nullable(),
  result: SignedIntent.nullable(),
  /** Reason of a denial or an error, as a sentence. */
  error: z.string().nullable(),
  blocked_reason: z
    .string()
    .optional()
    .describe(
      'Reason why a waiting request cannot be approved now, such as a lowered limit. Absent if the request can be approved.',
    ),
})
export type IntentRecord = z.infer<typeof IntentRecord>

const IntentParams = z.object({ intentId: z.string().min(1) })
const waitMs = z.coerce.number('must be a number').int().min(0).max(60_000, 'must be 0 to 60000').default(0)

export const askIntent = defineRoute({
  operation: 'intentAsk',
  method: 'POST',
  path: '/local/intents',
  summary: 'Submit an intent to sign; the policy allows it, denies it or asks the user',
  description: `The response has the \`state\` \`waiting\`, \`approved\` (signing is in progress), \`signed\` (\`result\` contains the signature), \`denied\`, \`expired\` or \`failed\` (\`error\` contains the reason). The \`amount\` of a payment is in atomic units of USDC: \`1000000\` is 1 USDC. Only the user may submit a \`message\`.`,
  example: {
    intent: { kind: 'siwe', domain: 'app.example', uri: 'https://app.example/', nonce: 'k2PzD8qW4nTb' },
    reason: 'To read the price list.',
  },
  tag: 'Approvals',
  auth: 'client',
  refusals: [404],
  body: z.object({ intent: Intent, reason: Reason.optional() }),
  response: IntentRecord,
  status: 201,
  idempotent: true,
})

export const getIntent = defineRoute({
  operation: 'intentGet',
  method: 'GET',
  path: '/local/intents/:intentId',
  summary: 'Get an intent; `wait_ms` waits until it is settled',
  description:
    'Responds after `wait_ms` at the latest, with the current state. Fails with 404 `intent/not-found` for a client if the intent belongs to another requester. Decided intents are deleted when many newer ones exist.',
  tag: 'Approvals',
  auth: 'client',
  params: IntentParams,
  query: z.object({ wait_ms: waitMs }),
  response: IntentRecord,
})

export const cancelIntent = defineRoute({
  operation: 'intentCancel',
  method: 'DELETE',
  path: '/local/intents/:intentId',
  summary: 'Withdraw a waiting intent',
  description:
    'Sets the state of the intent to `denied`. Only its requester can withdraw it; others get 404 `intent/not-found`. Fails with 409 `intent/decided` if the intent is not waiting.',
  tag: 'Approvals',
  auth: 'client',
  refusals: [409],
  params: IntentParams,
  response: IntentRecord,
})

export const listIntents = defineRoute({
  operation: 'intentList',
  method: 'GET',
  path: '/local/intents',
  summary: 'List intents, newest first',
  description:
    'Returns the newest intents of all requesters, up to `limit` and without further pages. `waiting` counts all waiting intents, regardless of the filter.',
  tag: 'Approvals',
  auth: 'person',
  query: z.object({ state: IntentState.optional(), limit: z.coerce.number().int().min(1).max(200).default(50) }),
  response: z.object({ intents: z.array(IntentRecord), waiting: z.int() }),
})

export const decideIntent = defineRoute({
  operation: 'intentDecide',
  method: 'POST',
  path: '/local/intents/:intentId/decision',
  summary: 'Approve or deny an intent',
  description:
    'Above the threshold, the user must confirm in a dialog or secure prompt; otherwise the request fails with 403 `intent/confirmation`. `grant` approves similar later requests of the same requester. Fails with 409 `intent/decided` if the intent is not waiting, or 423 `wallet/locked`.',
  example: { approve: true, grant: { times: 10, only_path: true } },
  tag: 'Approvals',
  auth: 'person',
  refusals: [409, 423],
  params: IntentParams,
  body: z.object({
    approve: z.boolean(),
    /** Grant for further intents of the same kind, requester, host, scope and account, up to the same amount. */
    grant: z
      .object({
        times: z.int().min(2, 'must be 2 to 1000').max(1000, 'must be 2 to 1000').optional(),
        until: IsoTime.optional(),
        only_path: z
          .boolean()
          .optional()
          .describe(
            'Whether the grant applies only to the path of this payment, not to everything that its host sells.',
          ),
      })
      .optional(),
  }),
  response: IntentRecord,
})

/** Advance approval of further intents with the same scope. */
export const Grant = z.object({
  id: z.string(),
  kind: IntentKind,
  requester: Requester,
  host: z.string().nullable(),
  /** Scope as in the intent. */
  scope: z.string().nullable(),
  path: z.string().nullable().optional().describe('Path that payments must be for. Null for any path of the host.'),
  account_id: WalletAccountId,
  max_amount_micro_usd: z.string().nullable(),
  times_left: z.int().nullable(),
  until: IsoTime.nullable(),
  created_at: IsoTime,
})
export type Grant = z.infer<typeof Grant>

export const listGrants = defineRoute({
  operation: 'grantList',
  method: 'GET',
  path: '/local/grants',
  summary: 'List active grants (approvals in advance)',
  description:
    'Omits used and expired grants. Grants without `times_left` come first, then the others, each group oldest first.',
  tag: 'Approvals',
  auth: 'person',
  response: z.object({ grants: z.array(Grant) }),
})

export const revokeGrant = defineRoute({
  operation: 'grantRevoke',
  method: 'DELETE',
  path: '/local/grants/:grantId',
  summary: 'Revoke a grant',
  description: 'Applies from the next request. Existing signatures stay valid. Fails with 404 `grant/not-found`.',
  tag: 'Approvals',
  auth: 'person',
  params: z.object({ grantId: z.string().min(1) }),
  response: z.object({ success: z.literal(true), id: z.string() }),
})

/** Rule of the policy. The first match decides; without a match, the user is asked. */
export const PolicyRule = z.object({
  id: z.string(),
  effect: z.enum(['allow', 'ask', 'deny'], 'must be allow, ask or deny'),
  kind: IntentKind.or(z.literal('*')),
  requester: RequesterKind.or(z.literal('*')),
  /** Exact host[:port], `*.example.com` for all subdomains, or `*`. */
  host: z
    .string()
    .regex(/^(\*|(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?)$/, 'must be a host, *.host or *'),
  /** Maximum amount that the rule matches, in micro-dollars as decimal text. Null: any amount */
  max_amount_micro_usd: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a decimal number')
    .nullable(),
})
export type PolicyRule = z.infer<typeof PolicyRule>

/** Rules that allow, deny or ask for intents, and the emergency stop. */
export const Policy = z.object({
  /** Emergency stop: all intents are denied, including pending ones. */
  stopped: z.boolean(),
  rules: z.array(PolicyRule).max(100),
  /** Amount in micro-dollars above which the user confirms in a dialog that the window cannot draw. */
  confirm_above_micro_usd: z.string().regex(/^\d{1,18}$/, 'must be a decimal number'),
  /** Time until a pending request expires, in minutes. */
  expiry_minutes: z.int().min(1).max(1440),
})
export type Policy = z.infer<typeof Policy>

export const getPolicy = defineRoute({
  operation: 'policyGet',
  method: 'GET',
  path: '/local/policy',
  summary: 'Get the policy with its rules, threshold and stop switch',
  description:
    'The first matching rule decides. If no rule matches, Steward asks the user. The list of rules is initially empty. A stored policy that cannot be read denies every request.',
  tag: 'Approvals',
  auth: 'person',
  response: Policy,
})

export const changePolicy = defineRoute({
  operation: 'policyChange',
  method: 'PUT',
  path: '/local/policy',
  summary: 'Replace the rules, threshold and expiry of the policy',
  description:
    'Replaces all rules; each rule needs a unique `id`. A stricter policy applies immediately. A policy that allows more requires confirmation by the user. Fails with 403 `policy/confirmation`, 409 `wallet/absent`, or 423 `wallet/locked`.',
  example: {
    rules: [
      {
        id: 'reports',
        effect: 'allow',
        kind: 'x402.authorize',
        requester: 'client',
        host: 'api.example',
        max_amount_micro_usd: '50000',
      },
    ],
    confirm_above_micro_usd: '10000000',
    expiry_minutes: 15,
  },
  tag: 'Approvals',
  auth: 'person',
  refusals: [409, 423],
  body: Policy.omit({ stopped: true }),
  response: Policy,
})

export const switchStop = defineRoute({
  operation: 'policyStop',
  method: 'POST',
  path: '/local/stop',
  summary: 'Turn the stop switch on or off',
  description:
    'Turning the switch on denies all waiting intents and discards signatures in progress. Turning it off requires confirmation by the user if a wallet exists; otherwise it fails with 403 `policy/confirmation`.',
  example: { stopped: true },
  tag: 'Approvals',
  auth: 'person',
  refusals: [409, 423],
  body: z.object({ stopped: z.boolean() }),
  response: Policy,
})
