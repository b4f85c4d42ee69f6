import type { PrincipalId, Principals } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import type { ToolRights } from './toolRights.ts'

/**
 * Principals of the local agent that can end. `token` is a sign-in at the service, or its wallet if the service does
 * not identify the sign-in. The user's session and Steward itself are not among them.
 */
export type RevocablePrincipal = 'tool' | 'chat' | 'key' | 'token' | 'wallet'

/**
 * Kinds of work that hold a lease, with the principals for which each is done. A feature that works, waits or stores
 * something for a requester adds its kind here; test/integration/endedAuthority.test.ts fails until each cell has a
 * case.
 */
export const leaseHolders = {
  /** Call of a tool by an MCP client, a chat or a program. */
  'tool-call': ['tool', 'chat'],
  /** Program of `operations_run`. */
  program: ['tool'],
  /** Request in Approvals that is not yet decided or signed. */
  request: ['tool', 'chat', 'key', 'token', 'wallet'],
  /** Remembered approval. */
  grant: ['tool', 'chat', 'key', 'token', 'wallet'],
  /** Request to the local API, including long polls. */
  'local-request': ['key', 'token'],
  /** Completion of a model in a chat. */
  'chat-run': ['chat'],
  /** Payment that is not yet signed. */
  payment: ['tool', 'chat', 'key', 'token', 'wallet'],
} as const satisfies Readonly<Record<string, readonly RevocablePrincipal[]>>
export type LeaseHolder = keyof typeof leaseHolders

export type PrincipalRights = {
  /** Rights to call tools. Omitted if the principal may call no tools. */
  tools?: ToolRights | undefined
}
export type AgentPrincipals = Principals<PrincipalRights, LeaseHolder>

/**
 * Returns the principal of a requester. Ids of API keys and access tokens include their kind: `key:…`, `token:…`. The
 * sign-ins of a wallet share an id, and therefore a budget, but are separate principals.
 */
export function toRequesterPrincipal({
  kind,
  id,
  sign_in: signIn,
}: Pick<Requester, 'kind' | 'id' | 'sign_in'>): PrincipalId {
  if (kind === 'client' && signIn !== undefined) return `${id as PrincipalId}/${signIn}`
  if (kind === 'client') return id.includes(':') ? (id as PrincipalId) : `client:${id}`
  if (kind === 'tool') return isChat(id) ? `chat:${id}` : `tool:${id}`
  return `${kind}:${id}`
}

export function toWalletPrincipal(account: WalletAccountId): PrincipalId {
  return `wallet:${account}`
}

/** Whether a requester of kind `tool` is a conversation. */
function isChat(id: string): boolean {
  return id.startsWith('conv_')
}

export function getPrincipalKind(principal: PrincipalId): string {
  return principal.slice(0, principal.indexOf(':'))
}

const endErrorFactories: Readonly<Record<RevocablePrincipal, () => AppError>> = {
  tool: () => new AppError('tool/revoked', 'The tool client was revoked.'),
  chat: () => new AppError('tool/denied', 'The chat was deleted.'),
  key: () => new AppError('auth/invalid', 'The API key was revoked.'),
  token: () => new AppError('auth/invalid', 'This sign-in has ended.'),
  wallet: () => new AppError('wallet/account-not-found', 'The wallet account was removed.'),
}

export function toEndedError(principal: PrincipalId): AppError {
  const kind = getPrincipalKind(principal)
  return kind in endErrorFactories
    ? endErrorFactories[kind as keyof typeof endErrorFactories]()
    : new AppError('auth/invalid', 'Access has ended.')
}
