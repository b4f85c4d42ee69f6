import { anyKey, createKeySchemes } from '#platform/openApi/keySchemes.ts'
import { type OpenApiDocument, openApiDocument } from '#platform/openApi/openApiDocument.ts'
import type { SecurityRequirement, SocketRoute } from '#platform/openApi/operations.ts'
import { Automaton, AutomatonProfile, AutomatonRegistration } from '#shared/contract/automatons.ts'
import { Attachment, Prompt } from '#shared/contract/chatLibrary.ts'
import { ChatFailure, Message, MessageUsage } from '#shared/contract/chatMessages.ts'
import {
  ChatParameters,
  Conversation,
  ConversationSummary,
  LimitState,
  Spend,
  SpendLimits,
} from '#shared/contract/chats.ts'
import { Image } from '#shared/contract/images.ts'
import { Grant, Intent, IntentRecord, Policy, PolicyRule, Requester, SignedIntent } from '#shared/contract/intents.ts'
import {
  LocalEvent,
  localEventsPath,
  ServiceConnection,
  windowKeyHeader,
  windowProtocol,
} from '#shared/contract/localApi.ts'
import type { Route, RouteAuth } from '#shared/contract/route.ts'
import { Enforced, Sandbox } from '#shared/contract/sandboxes.ts'
import { Terminal } from '#shared/contract/terminals.ts'
import { TimelineEntry } from '#shared/contract/timeline.ts'
import { Balance, Keyring, Wallet, WalletAccount } from '#shared/contract/wallet.ts'

const about = `Local API of Steward for programs on this computer: signing requests, automaton registrations, the wallet without its secrets, and chats.
The paths of the service are available at this address too; \`/openapi.json\` describes them.

Programs authenticate with an API key of the account of this Steward, or with the access token of a sign-in. Operations that require the session
(its cookie and its key) are only for the user: API keys cannot read the inbox, decide requests, or change the wallet or the policy. If a request
has both a key and a session, the key applies. Requests must use the host 127.0.0.1, localhost or [::1]; pages of other origins get 403.

To request a signature, call \`POST /local/intents\` and poll \`GET /local/intents/{intentId}?wait_ms=60000\` until \`state\` is neither
\`waiting\` nor \`approved\`. A program sees only its own intents. With an \`Idempotency-Key\`, a request repeated within 24 hours returns the first intent
and signs nothing twice. Above the rate limit, the response is 429; retry after \`Retry-After\`.

Every response is a JSON object, except downloads and streams. Errors are \`{"error", "code", "detail"?, "hint"?}\`: \`code\` is stable, the
sentences may change. Times are ISO 8601 in UTC with milliseconds.`

type Options = {
  routes: readonly Route[]
  version: string
  cookieName: string
}

/** Creates the OpenAPI description of the agent's endpoints lazily, on first use. */
export function createLocalOpenApi({ routes, version, cookieName }: Options): () => OpenApiDocument {
  let document: OpenApiDocument | undefined
  return () => {
    document ??= openApiDocument({
      title: 'Steward on this computer',
      version,
      about,
      routes,
      sockets: [events],
      named,
      securitySchemes: {
        ...createKeySchemes('API key or access token of the account of this Steward.'),
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'Session of the user, created by opening a start address. The cookie name contains the port.',
        },
        windowKey: {
          type: 'apiKey',
          in: 'header',
          name: windowKeyHeader,
          description: 'The `window_key` issued with the cookie. Both are required.',
        },
      },
      security: [...anyKey, ...session],
      securityOf: (auth) => securityByAuth[auth],
      repetition: 'the same key with the same request returns the first result in its current state, for 24 hours.',
    })
    return document
  }
}

const session: readonly SecurityRequirement[] = [{ sessionCookie: [], windowKey: [] }]
const securityByAuth: Partial<Record<RouteAuth, readonly SecurityRequirement[]>> = { none: [], person: session }

const named = {
  AnswerUsage: MessageUsage,
  Requester,
  Attachment,
  Automaton,
  AutomatonProfile,
  Balance,
  ChatFailure,
  ChatParameters,
  Conversation,
  ConversationSummary,
  Enforced,
  Grant,
  Image,
  Intent,
  IntentRecord,
  Keyring,
  LimitState,
  LocalEvent,
  Message,
  Policy,
  PolicyRule,
  Prompt,
  Registration: AutomatonRegistration,
  Sandbox,
  ServiceConnection,
  SignedIntent,
  Spend,
  SpendLimits,
  Terminal,
  TimelineEntry,
  Wallet,
  WalletAccount,
} as const

const events: SocketRoute = {
  operation: 'localEvents',
  path: localEventsPath,
  summary: 'Subscribe to all changes, local and at the service (WebSocket)',
  description:
    'JSON messages, each a `LocalEvent` of the schemas: first `connection.changed`; `ready` when lists of the service must be fetched ' +
    'again; then each change. ' +
    `A client that cannot set headers offers the protocols \`${windowProtocol.agreed}\` and \`${windowProtocol.withKey}<window_key>\`. ` +
    'The server accepts no messages, and closes with 4008 if 8 MiB of messages are unread.',
  tag: 'Local',
  auth: 'person',
  messages: LocalEvent,
}
