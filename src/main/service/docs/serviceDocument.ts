import { anyKey, createKeySchemes } from '#platform/openApi/keySchemes.ts'
import { openApiDocument } from '#platform/openApi/openApiDocument.ts'
import type { SocketRoute } from '#platform/openApi/operations.ts'
import type { JsonSchema } from '#platform/openApi/schemaComponents.ts'
import { ApiKey } from '#shared/contract/accounts.ts'
import { eventsPath, ServiceEvent } from '#shared/contract/events.ts'
import { FileEntry } from '#shared/contract/files.ts'
import type { Route } from '#shared/contract/route.ts'
import { Enforced, RuntimeReport, Sandbox } from '#shared/contract/sandboxes.ts'
import { StreamQuery, terminalStreamPath } from '#shared/contract/terminalStream.ts'
import { Terminal, TerminalParams } from '#shared/contract/terminals.ts'

const serviceDescription = `One service for sandboxes with their terminals, files, ports and snapshots, for models, credits and x402 payments, for domains and DNS, for accounts that sign in with a wallet, and for the identities of automatons.

Every answer is a JSON object. Errors are \`{"error", "code", "detail"?, "hint"?}\`: \`code\` is stable, the sentences may change.
Times are ISO 8601 in UTC with milliseconds. \`Idempotency-Key\` on what creates or executes makes a repetition within
24 hours return the first answer.

Programs bring an API key. People sign in with a wallet: a nonce, a message of EIP-4361 (or of its Solana twin) that names it,
its signature; then an access token for an hour and a refresh token for thirty days, which serves once.

This is the service. What the application adds beside it for programs, below \`/local/\`, has a document of its own:
\`/local/openapi.json\` at the application's address.`

/** Builds the OpenAPI document. */
export function createServiceDocument({ routes, version }: { routes: readonly Route[]; version: string }): JsonSchema {
  return openApiDocument({
    title: 'Steward',
    version,
    about: serviceDescription,
    routes,
    sockets: [terminalStream, events],
    named: { ApiKey, Enforced, FileEntry, RuntimeReport, Sandbox, ServiceEvent, Terminal },
    securitySchemes: createKeySchemes('An API key, the access token of a sign-in, or the token of a terminal link.'),
    security: anyKey,
    securityOf: (auth) => (auth === 'none' ? [] : undefined),
    repetition: 'the same key with the same request returns the first answer for 24 hours.',
  })
}

const terminalStream: SocketRoute = {
  operation: 'terminalStream',
  path: terminalStreamPath,
  summary: 'Watch and type into a terminal (WebSocket)',
  description:
    'The server sends `attached` as JSON, one binary frame that draws the present screen, then raw output as binary frames with ' +
    '`resized`, `title` and `exited` in between. The client sends `input`, `resize` and `ack` as JSON; unacknowledged output is held back ' +
    'beyond 1 MiB. It closes with 1000 after the exit, 4004 when there is no such terminal, 4008 for a viewer that does not ' +
    'acknowledge, and 4503 while the sandbox host is away: attach again then.',
  tag: 'Terminals',
  auth: 'key',
  params: TerminalParams,
  query: StreamQuery,
}

const events: SocketRoute = {
  operation: 'events',
  path: eventsPath,
  summary: 'Subscribe to changes of your sandboxes and terminals (WebSocket)',
  description:
    'JSON messages, each a `ServiceEvent` of the schemas: `ready` first, and again whenever lists should be read anew; then what ' +
    'changed: `sandbox.changed`, `terminal.removed` and so on.',
  tag: 'Events',
  auth: 'key',
  messages: ServiceEvent,
}
