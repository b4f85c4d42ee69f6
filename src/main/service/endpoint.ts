import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { WebSocket } from 'ws'
import type { z } from 'zod'
import type { Answer, Parsed, Route } from '../../shared/contract/route.ts'
import type { ChainType } from '../../shared/contract/wallet.ts'
import type { AccountId, SandboxId } from '../../shared/ids.ts'

/** Who calls, after the credential was checked. */
export type Caller = {
  accountId: AccountId
  owner: boolean
  /** Signed in, or with the key of the owner's file: what an API key of a program does not outlive is in such hands only. */
  managesAccount: boolean
  /** The person at this machine, in the window of the application that runs this service. Of nobody else. */
  isPerson?: true
  /** Of a terminal link: it reaches the terminals of this one sandbox and nothing else. */
  onlySandbox: SandboxId | undefined
  /** The API key that was used. */
  keyId: string | undefined
  /** The wallet that signed in, of an access token. EVM: with the checksum of EIP-55. */
  wallet: { type: ChainType; address: string } | undefined
}

/** Where a request came to, and from. */
export type Place = {
  /** Its Host header, `127.0.0.1:4000`, where that names this very place; otherwise empty. */
  host: string
  /** One more was made for the network that asks; the owner is not counted. @throws AppError `request/rate` */
  count(what: Counted): void
}

/** What is made for anybody who asks, and is kept: of each, only so many a day. */
export type Counted = 'automaton' | 'nonce' | 'account'

export type Call = Place & {
  caller: Caller
  /** Fires when the client has gone or the service closes: for handlers that wait. */
  readonly signal: AbortSignal
}

/** A route of the contract with what answers it. Input is parsed by the route's own schemas before. */
export type Endpoint =
  | OpenEndpoint
  | RawEndpoint
  | { kind: 'guarded'; route: Route; linkMayUse: boolean; handle: (input: Parsed<Route>, call: Call) => unknown }

/** `signIn`: somebody unknown sends a signature, or becomes known by one, so that such requests are counted strictly. */
export type OpenEndpoint = {
  kind: 'open'
  route: Route
  signIn: boolean
  handle: (input: Parsed<Route>, place: Place) => unknown
}

/** Of a route with bodies of bytes. It answers with a stream, or with what the route's schema says. */
export type RawEndpoint = {
  kind: 'raw'
  route: Route
  linkMayUse: false
  handle: (input: Parsed<Route>, call: RawCall) => Promise<RawAnswer>
}

export type RawCall = Call & {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Empty where the route takes no bytes. */
  readonly body: AsyncIterable<Uint8Array>
  /** Of the answer, also when it is a failure. */
  setHeader(name: string, value: string): void
}

export type RawAnswer =
  | { kind: 'json'; value: unknown }
  /** `body` absent: there is none, but all headers are as if there were. */
  | { kind: 'bytes'; status: number; headers: Readonly<Record<string, string>>; body?: Readable }

export function rawEndpoint<R extends Route>(
  route: R,
  handle: (input: Parsed<R>, call: RawCall) => Promise<RawAnswer>,
): Endpoint {
  return { kind: 'raw', route, linkMayUse: false, handle: handle as RawEndpoint['handle'] } // as above
}

/** `const A` keeps literals such as `success: true` what they are. */
export function endpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: (input: Parsed<R>, call: Call) => A | Promise<A>,
): Endpoint {
  // The server parses with this very route's schemas, so the input is what the handler expects.
  return { kind: 'guarded', route, linkMayUse: false, handle: handle as (input: Parsed<Route>, call: Call) => unknown }
}

/** Like `endpoint`, and open to the holder of a terminal link to the sandbox that `:id` names. */
export function linkEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: (input: Parsed<R>, call: Call) => A | Promise<A>,
): Endpoint {
  return { kind: 'guarded', route, linkMayUse: true, handle: handle as (input: Parsed<Route>, call: Call) => unknown }
}

/** For routes that need no credential. */
export function openEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: (input: Parsed<R>) => A | Promise<A>,
): Endpoint {
  return { kind: 'open', route, signIn: false, handle: handle as OpenEndpoint['handle'] } // as above
}

/** For routes by which somebody signs in, or that check a signature of anybody. */
export function signInEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: (input: Parsed<R>, place: Place) => A | Promise<A>,
): Endpoint {
  return { kind: 'open', route, signIn: true, handle: handle as OpenEndpoint['handle'] } // as above
}

/** A path that upgrades to a WebSocket once the caller is known. */
export type SocketEndpoint = {
  path: `/${string}`
  params: z.ZodObject
  query: z.ZodObject
  linkMayUse: boolean
  serve: (socket: WebSocket, input: { params: Params; query: Params }, caller: Caller) => void
}
type Params = Record<string, unknown>

export function socketEndpoint<P extends z.ZodObject, Q extends z.ZodObject>(definition: {
  path: `/${string}`
  params: P
  query: Q
  linkMayUse: boolean
  serve: (socket: WebSocket, input: { params: z.output<P>; query: z.output<Q> }, caller: Caller) => void
}): SocketEndpoint {
  return definition as unknown as SocketEndpoint // parsed by the schemas beside it, as above
}
