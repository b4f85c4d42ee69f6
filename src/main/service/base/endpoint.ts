import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { BytesAnswer } from '#platform/http/answers.ts'
import type { BaseCall, Endpoint as HttpEndpoint } from '#platform/http/endpoint.ts'
import type { PrincipalId } from '#platform/principals.ts'
import type { Answer, Parsed, Route } from '#shared/contract/route.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import type { WorkKind } from './principals.ts'

/** Authenticated caller. */
export type Caller = {
  accountId: AccountId
  /** Principal whose end ends the request, and what it opened. */
  principal: PrincipalId
  /** End of the credential, where its principal may go on: of an access token. */
  expiresAtMs?: number
  owner: boolean
  /** Signed in, or with the key of the owner's file: what an API key of a program does not outlive is in such hands only. */
  managesAccount: boolean
  /** Set only for the user at this machine, in the window of the application that runs this service. */
  isPerson?: true
  /** Set for a terminal link, which reaches only the terminals of this sandbox. */
  onlySandbox: SandboxId | undefined
  /** The API key that was used. */
  keyId: string | undefined
  /**
   * Key of the request, or the one that issued its terminal link, for the log: it may be revoked before the entry is
   * written.
   * Absent for the key in the owner's file.
   */
  actingKey?: { id: string; name: string }
  /** The wallet that signed in, of an access token. EVM: with the checksum of EIP-55. */
  wallet: { type: ChainType; address: string } | undefined
}

/** Origin and destination of a request. */
export type RequestContext = {
  /** Host header, `127.0.0.1:4000`, if it names this server; otherwise empty. */
  host: string
  /** Identifies the caller on a public endpoint. */
  holder(): Caller | undefined
  /** One more was made for the network that asks; the owner is not counted. @throws AppError `request/rate` */
  count(quota: Counted): void
}

/** Resources created for anonymous callers, limited per day. */
export type Counted = 'automaton' | 'nonce' | 'account' | 'name'

export type Call = RequestContext &
  Pick<BaseCall, 'signal' | 'disconnected' | 'repeatable' | 'lease' | 'abort'> & { caller: Caller }

/** Call of a route with binary bodies. */
export type RawCall = Call & Pick<BaseCall, 'method' | 'headers' | 'body' | 'setHeader'>

/**
 * Route with its handler and access. `signIn`: for anonymous callers that send a signature or sign in; such requests
 * have strict limits.
 */
export type Endpoint = HttpEndpoint<AnyCall> & {
  /** Kind of work that its lease is of. Default: `request`. */
  work?: WorkKind
  access: { kind: 'open'; signIn: boolean } | { kind: 'guarded'; linkMayUse: boolean }
}
/** Call of any endpoint; public ones have no caller. */
export type AnyCall = RequestContext & BaseCall & { caller: Caller | undefined }

type Handle<R extends Route, C, A> = (input: Parsed<R>, call: C) => A | Promise<A>

/** `const A` keeps literals such as `success: true` what they are. */
export function createEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, Call, A>,
): Endpoint {
  return createGuarded(route, false, handle)
}

/** Like `endpoint`, and open to the holder of a terminal link to the sandbox that `:id` names. */
export function createLinkEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, Call, A>,
): Endpoint {
  return createGuarded(route, true, handle)
}

/** Defines an endpoint that takes or returns bytes. */
export function createRawEndpoint<R extends Route, const A extends Answer<R> | BytesAnswer>(
  route: R,
  handle: Handle<R, RawCall, A>,
): Endpoint {
  return createGuarded(route, false, handle)
}

/** Takes leases of another kind of work than `request`. */
export function withWork(work: WorkKind, target: Endpoint): Endpoint {
  return { ...target, work }
}

/** For routes that need no credential. */
export function createOpenEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, RequestContext, A>,
): Endpoint {
  return { route, access: { kind: 'open', signIn: false }, handle: handle as Endpoint['handle'] } // as below
}

/** Defines an endpoint for signing in, or for checking anyone's signature. */
export function createSignInEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: Handle<R, RequestContext, A>,
): Endpoint {
  return { route, access: { kind: 'open', signIn: true }, handle: handle as Endpoint['handle'] } // as below
}

function createGuarded<R extends Route, C, A>(route: R, linkMayUse: boolean, handle: Handle<R, C, A>): Endpoint {
  // The server parses with this very route's schemas and finds the caller, so both are what the handler expects.
  return { route, access: { kind: 'guarded', linkMayUse }, handle: handle as Endpoint['handle'] }
}

/** A path that upgrades to a WebSocket once the caller is known. */
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
  return definition as unknown as SocketEndpoint // parsed by the schemas beside it, as above
}
