import { z } from 'zod'
import { Registration } from './automatons.ts'
import { ServiceEvent } from './events.ts'
import { IntentRecord, Policy } from './intents.ts'
import { Payment } from './paymentRecords.ts'
import { defineRoute } from './route.ts'

/**
 * The agent's own paths, beside every path of the service, which it forwards with the person's key:
 * the renderer talks to one origin and never holds a key.
 */

/** Name of the session's cookie: a browser shares cookies between all ports of a host. */
export const toSessionCookieName = (port: number) => `steward_session_${port}`

/**
 * Header with the session key of the window, beside the cookie. Browsers send the cookie to every server on the host,
 * whatever its port; the key is stored for the origin of the window only.
 */
export const windowKeyHeader = 'x-steward-window'

/** For WebSockets, which have no headers of their own: offered as `steward, steward.window.<key>`, agreed as `steward`. */
export const windowProtocol = { agreed: 'steward', withKey: 'steward.window.' } as const

/**
 * Authorization of browser requests without headers, such as images and downloads:
 * `?…&steward_link=<until>.<signature>` at the end of the URL. `until` is in seconds since 1970; the signature is
 * HMAC-SHA256 in base64url, keyed with the SHA-256 of the window's key, of `linkText(until, address)`. Valid for a GET
 * of this path and query, with the session's cookie.
 */
export const windowLink = { parameter: 'steward_link', seconds: 12 * 3600 } as const

/** @param address path and query without the parameter of the link */
export const linkText = (until: number, address: string): string => `${until}\n${address}`

/** Exchanges the one-time token of the start address (`/#token=…`) for the session: its cookie and the window's key. */
export const openSession = defineRoute({
  operation: 'sessionOpen',
  method: 'POST',
  path: '/local/session',
  summary: 'Open the session of the user at this computer',
  description: `Uses up the one-time token of the start address. Sets the session cookie; later requests also send \`window_key\` in the header \`${windowKeyHeader}\`. Fails with 401 \`auth/session\` for a used or outdated token.`,
  example: { token: 'TOKEN_OF_THE_START_ADDRESS' },
  tag: 'Local',
  auth: 'none',
  refusals: [401],
  body: z.object({ token: z.string().min(1) }),
  maxBodyBytes: 4096,
  response: z.object({ success: z.literal(true), window_key: z.string() }),
})

/** Requires no credential: the document holds nothing beyond the published program. */
export const getLocalDocument = defineRoute({
  operation: 'localDocument',
  method: 'GET',
  path: '/local/openapi.json',
  summary: 'Get the OpenAPI document of the local API',
  description:
    'Describes the paths below `/local/`; `/openapi.json` describes those of the service. Requires no credential.',
  tag: 'Local',
  auth: 'none',
  response: z.looseObject({ openapi: z.string() }),
})

/** `signed-out`: the service may well answer, but the wallet has not signed in to it. */
export const ConnectionState = z.enum(['starting', 'connected', 'signed-out', 'unreachable'])
export type ConnectionState = z.infer<typeof ConnectionState>

/** Connection of the local agent to a service. */
export const ServiceConnection = z.object({
  name: z.string(),
  kind: z.enum(['embedded', 'hosted']),
  url: z.string(),
  state: ConnectionState,
  /** One sentence when it is not connected. */
  detail: z.string().nullable(),
})
export type ServiceConnection = z.infer<typeof ServiceConnection>

export const getLocalStatus = defineRoute({
  operation: 'localStatus',
  method: 'GET',
  path: '/local/status',
  summary: 'Get the version, platform and service connection of this Steward',
  description:
    'Answers from memory, also while the service is unreachable. The WebSocket `/local/events` reports changes of `connection` as `connection.changed`.',
  tag: 'Local',
  auth: 'person',
  response: z.object({
    version: z.string(),
    shell: z.enum(['electron', 'browser']),
    platform: z.string(),
    connection: ServiceConnection,
  }),
})

/** The WebSocket `GET /local/events`: the service's events and the connection's own state. */
export const localEventsPath = '/local/events'
/** Event of the local agent's stream: the service's events, and its own. */
export const LocalEvent = z.discriminatedUnion('type', [
  ...ServiceEvent.options,
  z.object({ type: z.literal('connection.changed'), connection: ServiceConnection }),
  /** Read it again. */
  z.object({ type: z.literal('wallet.changed') }),
  z.object({ type: z.literal('intent.changed'), intent: IntentRecord }),
  /** The person followed a notification: the window goes there. */
  z.object({ type: z.literal('intent.show'), intent_id: z.string() }),
  z.object({ type: z.literal('policy.changed'), policy: Policy }),
  z.object({ type: z.literal('grants.changed') }),
  /** Keys of providers or own model servers: read them again. */
  z.object({ type: z.literal('providers.changed') }),
  /** MCP servers of others, or what they list: read them again. */
  z.object({ type: z.literal('tool-servers.changed') }),
  z.object({ type: z.literal('payment.changed'), payment: Payment }),
  /** Limits of payments, known payees, or what is used of the limits: read them again. */
  z.object({ type: z.literal('payment-budgets.changed') }),
  z.object({ type: z.literal('registration.changed'), registration: Registration }),
  /** The cache of domains and DNS records was refreshed. */
  z.object({ type: z.literal('local-domains.changed') }),
  /** Auto-renew or expiry notices: read them again. */
  z.object({ type: z.literal('domain-renewals.changed') }),
  /** Notice about domains for the user. `domain` is null for several domains. */
  z.object({ type: z.literal('domains.told'), title: z.string(), body: z.string(), domain: z.string().nullable() }),
  z.object({ type: z.literal('timeline.appended'), sequence: z.int() }),
  /** The conversation changed: reload it. Null: folders, or several conversations. */
  z.object({ type: z.literal('chat.changed'), conversation_id: z.string().nullable() }),
  z.object({ type: z.literal('prompts.changed') }),
  /** A model of this conversation typed into a terminal. */
  z.object({
    type: z.literal('terminal.typed'),
    session_id: z.string(),
    conversation_id: z.string(),
    title: z.string(),
  }),
  /** An answer ended, or limits were changed: read the budget and the sums again. Null: of no conversation in particular. */
  z.object({ type: z.literal('chat.spend'), conversation_id: z.string().nullable() }),
])
export type LocalEvent = z.infer<typeof LocalEvent>
