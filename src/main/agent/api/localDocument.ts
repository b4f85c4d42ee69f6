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

const about = `What the application adds beside its service, for the programs of the person at this machine: requests to sign, registrations of
automatons, and the wallet without its secrets, and the chats of the person. The paths of the service answer at this address too; \`/openapi.json\` describes them.

Programs bring an API key of the account that this Steward belongs to, or the access token of a sign-in. What takes the session
alone (its cookie and its key) is the person's: no API key reads the inbox, decides, or changes the wallet and the policy. A request that brings a key acts with it,
whatever session it brings too. Only this address is answered, by the names 127.0.0.1, localhost and [::1]; pages of other origins get 403.

A program asks with \`POST /local/intents\` and waits with \`GET /local/intents/{intentId}?wait_ms=60000\` until \`state\` is neither
\`waiting\` nor \`approved\`. It sees its own intents only. With an \`Idempotency-Key\`, a repetition within 24 hours gets what was asked
before, and signs nothing twice. Who asks too often gets 429, and \`Retry-After\` says when to go on.

Every answer but what is downloaded, or streamed, is a JSON object. Errors are \`{"error", "code", "detail"?, "hint"?}\`: \`code\` is stable, the
sentences may change. Times are ISO 8601 in UTC with milliseconds.`

type Options = {
  routes: readonly Route[]
  version: string
  cookieName: string
}

/** Creates the OpenAPI description of the agent's endpoints lazily, on first use. */
export function createLocalDocument({ routes, version, cookieName }: Options): () => OpenApiDocument {
  let document: OpenApiDocument | undefined
  return () => {
    document ??= openApiDocument({
      title: 'Steward, at this machine',
      version,
      about,
      routes,
      sockets: [events],
      named,
      securitySchemes: {
        ...createKeySchemes(
          'An API key, or the access token of a sign-in, of the account that this Steward belongs to.',
        ),
        sessionCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieName,
          description: 'The session of the person, which a start address opens. Its name has the port.',
        },
        windowKey: {
          type: 'apiKey',
          in: 'header',
          name: windowKeyHeader,
          description: 'The `window_key` that came with the cookie: neither opens anything alone.',
        },
      },
      security: [...anyKey, ...session],
      securityOf: (auth) => securityByAuth[auth],
      repetition: 'the same key with the same request gets what was asked before, as it stands by then, for 24 hours.',
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
  summary: 'Hear of everything that changes, here and at the service (WebSocket)',
  description:
    'JSON messages, each a `LocalEvent` of the schemas: `connection.changed` first; `ready` whenever lists of the service should be read ' +
    'anew; then what changed. ' +
    `What has no headers of its own offers the protocols \`${windowProtocol.agreed}\` and \`${windowProtocol.withKey}<window_key>\`. ` +
    'It takes no messages, and closes with 4008 for a page that leaves 8 MiB unread.',
  tag: 'Local',
  auth: 'person',
  messages: LocalEvent,
}
