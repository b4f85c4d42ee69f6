import { z } from 'zod'
import { AutomatonRegistration } from './automatons.ts'
import { ServiceEvent } from './events.ts'
import { IntentRecord, Policy } from './intents.ts'
import { Payment } from './paymentRecords.ts'
import { defineRoute } from './route.ts'

/**
 * Routes of the local agent, in addition to all routes of the service, which it forwards with the user's key. The
 * renderer uses one origin and never has the key.
 */

/**
 * Returns the name of the session cookie. Includes the port, because browsers share cookies between all ports of a
 * host.
 */
export const toSessionCookieName = (port: number) => `steward_session_${port}`

/**
 * Header with the window's session key, required in addition to the cookie. Browsers send the cookie to every server on
 * the host, regardless of its port; the key is stored only for the origin of the window.
 */
export const windowKeyHeader = 'x-steward-window'

/**
 * Subprotocols for WebSockets, which cannot have custom headers in browsers. The client offers `steward,
 * steward.window.<key>`; the server selects `steward`.
 */
export const windowProtocol = { agreed: 'steward', withKey: 'steward.window.' } as const

/**
 * Authorization of browser requests without headers, such as images and downloads:
 * `?…&steward_link=<until>.<signature>` at the end of the URL. `until` is in seconds since 1970. The signature is
 * HMAC-SHA256 of `linkText(until, address)` in base64url, keyed with the SHA-256 of the window's key. Valid for a GET
 * of this path and query, with the session cookie.
 */
export const windowLink = { parameter: 'steward_link', seconds: 12 * 3600 } as const

/** @param address path and query without the link parameter */
export const linkText = (until: number, address: string): string => `${until}\n${address}`

/** Exchanges the one-time token of the start URL (`/#token=…`) for a session, with a cookie and the window's key. */
export const openSession = defineRoute({
  operation: 'sessionOpen',
  method: 'POST',
  path: '/local/session',
  summary: 'Open the session of the user on this computer',
  description: `Consumes the one-time token of the start address and sets the session cookie. Later requests also send \`window_key\` in the header \`${windowKeyHeader}\`. Fails with 401 \`auth/session\` for a used or outdated token.`,
  example: { token: 'TOKEN_OF_THE_START_ADDRESS' },
  tag: 'Local',
  auth: 'none',
  refusals: [401],
  body: z.object({ token: z.string().min(1) }),
  maxBodyBytes: 4096,
  response: z.object({ success: z.literal(true), window_key: z.string() }),
})

/** Requires no credential, because the document is the same as in the published program. */
export const getLocalDocument = defineRoute({
  operation: 'localDocument',
  method: 'GET',
  path: '/local/openapi.json',
  summary: 'Get the OpenAPI document of the local API',
  description:
    'Describes the paths below `/local/`. `/openapi.json` describes the paths of the service. Requires no credential.',
  tag: 'Local',
  auth: 'none',
  response: z.looseObject({ openapi: z.string() }),
})

/** `signed-out`: the wallet is not signed in to the service, which may be reachable. */
export const ConnectionState = z.enum(['starting', 'connected', 'signed-out', 'unreachable'])
export type ConnectionState = z.infer<typeof ConnectionState>

/** Connection of the local agent to its service. */
export const ServiceConnection = z.object({
  name: z.string(),
  kind: z.enum(['embedded', 'hosted']),
  url: z.string(),
  state: ConnectionState,
  /** Reason as a sentence if it is not connected. */
  detail: z.string().nullable(),
})
export type ServiceConnection = z.infer<typeof ServiceConnection>

export const getLocalStatus = defineRoute({
  operation: 'localStatus',
  method: 'GET',
  path: '/local/status',
  summary: 'Get the version, platform and service connection of Steward',
  description:
    'Responds from memory, even while the service is unreachable. The WebSocket `/local/events` reports changes of `connection` as `connection.changed`.',
  tag: 'Local',
  auth: 'person',
  response: z.object({
    version: z.string(),
    shell: z.enum(['electron', 'browser']),
    platform: z.string(),
    connection: ServiceConnection,
  }),
})

/** WebSocket `GET /local/events`: the events of the service, and those of the local agent. */
export const localEventsPath = '/local/events'
/** Event of the local agent's stream, including events of the service. */
export const LocalEvent = z.discriminatedUnion('type', [
  ...ServiceEvent.options,
  z.object({ type: z.literal('connection.changed'), connection: ServiceConnection }),
  /** The wallet changed. Clients should reload it. */
  z.object({ type: z.literal('wallet.changed') }),
  z.object({ type: z.literal('intent.changed'), intent: IntentRecord }),
  /** The user clicked a notification. The window navigates to the intent. */
  z.object({ type: z.literal('intent.show'), intent_id: z.string() }),
  z.object({ type: z.literal('policy.changed'), policy: Policy }),
  z.object({ type: z.literal('grants.changed') }),
  /** Provider keys or model servers changed. Clients should reload them. */
  z.object({ type: z.literal('providers.changed') }),
  /** External MCP servers or their tools changed. Clients should reload them. */
  z.object({ type: z.literal('tool-servers.changed') }),
  z.object({ type: z.literal('payment.changed'), payment: Payment }),
  /** Payment limits, known payees or the usage of limits changed. Clients should reload them. */
  z.object({ type: z.literal('payment-budgets.changed') }),
  z.object({ type: z.literal('registration.changed'), registration: AutomatonRegistration }),
  /** The cache of domains and DNS records was refreshed. */
  z.object({ type: z.literal('local-domains.changed') }),
  /** Auto-renew settings or expiry notices changed. Clients should reload them. */
  z.object({ type: z.literal('domain-renewals.changed') }),
  /** Notice about domains for the user. `domain` is null for several domains. */
  z.object({ type: z.literal('domains.notice'), title: z.string(), body: z.string(), domain: z.string().nullable() }),
  z.object({ type: z.literal('timeline.appended'), sequence: z.int() }),
  /** The conversation changed. Clients should reload it. Null: folders, or several conversations */
  z.object({ type: z.literal('chat.changed'), conversation_id: z.string().nullable() }),
  z.object({ type: z.literal('prompts.changed') }),
  /** A model of this conversation typed into a terminal. */
  z.object({
    type: z.literal('terminal.typed'),
    session_id: z.string(),
    conversation_id: z.string(),
    title: z.string(),
  }),
  /**
   * An assistant message ended, or limits changed. Clients should reload budget and totals. Null: not specific to one
   * conversation
   */
  z.object({ type: z.literal('chat.spend'), conversation_id: z.string().nullable() }),
])
export type LocalEvent = z.infer<typeof LocalEvent>
/** Event of one type. */
export type LocalEventOf<Type extends LocalEvent['type']> = Extract<LocalEvent, { type: Type }>
