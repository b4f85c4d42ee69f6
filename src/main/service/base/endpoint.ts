import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { PrincipalId } from '#platform/access/principals.ts'
import type { BytesResponse } from '#platform/http/answers.ts'
import type { BaseCall, Endpoint as HttpEndpoint } from '#platform/http/endpoint.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { WorkKind } from './principals.ts'

export type Caller = {
  accountId: AccountId
  /** Principal of the request. When it ends, the request and everything that it opened end too. */
  principal: PrincipalId
  /** Expiry of the credential if its principal outlives it, as for an access token. */
  expiresAtMs?: number
  owner: boolean
  /**
   * Whether the caller signed in or uses the key in the owner's file. Only such callers may create what outlives an API
   * key.
   */
  managesAccount: boolean
  /** Set only for the user at this computer, in the window of the application that runs this service. */
  isPerson?: true
  /** Set for a terminal link, which reaches only the terminals of this sandbox. */
  onlySandbox: SandboxId | undefined
  keyId: string | undefined
  /**
   * Key of the request, or the key that issued its terminal link. Stored for the activity log, because the key may be
   * revoked before the entry is written. Absent for the key in the owner's file.
   */
  actingKey?: { id: string; name: string }
  /** Wallet that signed in, for an access token. EVM addresses have the EIP-55 checksum. */
  wallet: { type: ChainType; address: string } | undefined
}

export type RequestContext = {
  /** Host header, `127.0.0.1:4000`, if it names this server; otherwise empty. */
  host: string
  /** Identifies the caller of a public endpoint. */
  holder(): Promise<Caller | undefined>
  /**
   * Identifies the client whose network has the quota. The owner is not counted.
   * @returns a function that counts one created resource, and throws AppError `request/rate` beyond the quota
   */
  openQuota(quota: DailyQuota): Promise<() => void>
}

/** Resources created for anonymous callers, limited per day. */
export type DailyQuota = 'automaton' | 'nonce' | 'account' | 'name'

export type Call = RequestContext &
  Pick<BaseCall, 'signal' | 'disconnected' | 'repeatable' | 'lease' | 'abort'> & { caller: Caller }

/** Call of a route with binary bodies. */
export type RawCall = Call & Pick<BaseCall, 'method' | 'headers' | 'body' | 'setHeader'>

/**
 * Route with its handler and access rules. `signIn` marks routes for anonymous callers that send a signature or sign
 * in; their requests have strict limits.
 */
export type Endpoint = HttpEndpoint<AnyCall> & {
  /** Kind of work that the lease of a request covers. Default: `request`. */
  work?: WorkKind
  access: { kind: 'open'; signIn: boolean } | { kind: 'guarded'; linkMayUse: boolean }
}
/** Call of any endpoint; public ones have no caller. */
export type AnyCall = RequestContext & BaseCall & { caller: Caller | undefined }

type Handle<R extends Route, C, A> = (input: Parsed<R>, call: C) => A | Promise<A>

/** `const A` preserves literal types such as `success: true`. */
export function createEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, Call, A>,
): Endpoint {
  return createGuarded(route, false, handle)
}

/** Like `createEndpoint`, but also accepts terminal links to the sandbox in `:id`. */
export function createLinkEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, Call, A>,
): Endpoint {
  return createGuarded(route, true, handle)
}

export function createRawEndpoint<R extends Route, const A extends Answer<R> | BytesResponse>(
  route: R,
  handle: Handle<R, RawCall, A>,
): Endpoint {
  return createGuarded(route, false, handle)
}

/** Returns the endpoint with leases for another kind of work than `request`. */
export function withWork(work: WorkKind, target: Endpoint): Endpoint {
  return { ...target, work }
}

/** Defines an endpoint that needs no credential. */
export function createOpenEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, RequestContext, A>,
): Endpoint {
  return { route, access: { kind: 'open', signIn: false }, handle: handle as Endpoint['handle'] } // safe, see below
}

/** Defines an endpoint for signing in or for verifying the signature of an anonymous caller. */
export function createSignInEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, RequestContext, A>,
): Endpoint {
  return { route, access: { kind: 'open', signIn: true }, handle: handle as Endpoint['handle'] } // safe, see below
}

function createGuarded<R extends Route, C, A>(route: R, linkMayUse: boolean, handle: Handle<R, C, A>): Endpoint {
  // The server parses the request with the schemas of this route and identifies the caller, so both match what the
  // handler expects.
  return { route, access: { kind: 'guarded', linkMayUse }, handle: handle as Endpoint['handle'] }
}

/** Path that upgrades to a WebSocket after the caller was identified. */
export type SocketEndpoint = {
  path: `/${string}`
  params: z.ZodObject
  query: z.ZodObject
  linkMayUse: boolean
  work: WorkKind
  serve: (socket: WebSocket, input: { params: Params; query: Params }, caller: Caller) => void
}
type Params = Record<string, unknown>

export function createSocketEndpoint<P extends z.ZodObject, Q extends z.ZodObject>(definition: {
  path: `/${string}`
  params: P
  query: Q
  linkMayUse: boolean
  work: WorkKind
  serve: (socket: WebSocket, input: { params: z.output<P>; query: z.output<Q> }, caller: Caller) => void
}): SocketEndpoint {
  return definition as unknown as SocketEndpoint // parsed by the schemas of the definition
}
