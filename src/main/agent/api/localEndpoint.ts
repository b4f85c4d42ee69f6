import type { Asker } from '../../../shared/contract/intents.ts'
import type { Answer, Parsed, Route } from '../../../shared/contract/route.ts'
import type { RepeatableRequest } from '../../platform/oncePerKey.ts'

export type LocalCall = {
  /** Who asks, after its session or API key was checked. */
  asker: Asker
  /** Of this Steward, as the caller wrote it: `http://127.0.0.1:4100`. */
  origin: string
  /** With an `Idempotency-Key`, on routes that honour it. */
  repeatable: Omit<RepeatableRequest, 'holder'> | undefined
  /** Of an answer that is JSON. */
  setHeader(name: string, value: string): void
  /** Fires when the caller has gone. */
  signal: AbortSignal
}

/** An operation of the agent itself, below `/local/`; the route's `auth` says who may use it. */
export type LocalEndpoint = { route: Route; handle: (input: Parsed<Route>, call: LocalCall) => unknown }

/** `const A` keeps literals such as `success: true` what they are. */
export function localEndpoint<R extends Route, const A extends Answer<R>>(
  route: R,
  handle: (input: Parsed<R>, call: LocalCall) => A | Promise<A>,
): LocalEndpoint {
  // The input is parsed with this very route's schemas, so it is what the handler expects.
  return { route, handle: handle as LocalEndpoint['handle'] }
}

/** A body that is no JSON, in pieces; of routes with `raw`. */
export class LocalBytes {
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: Iterable<string>

  constructor(headers: Readonly<Record<string, string>>, pieces: Iterable<string>) {
    this.headers = headers
    this.pieces = pieces
  }
}
