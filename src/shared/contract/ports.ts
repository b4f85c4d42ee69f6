import { z } from 'zod'
import { SandboxId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'
import { securePromptHostName } from './wallet.ts'

/** Exposed at once in one sandbox. */
export const maxExposedPorts = 64

const portNumber = 'must be a whole number from 1 to 65535'
/** TCP port, 1 to 65535. */
export const Port = z.int(portNumber).min(1, portNumber).max(65_535, portNumber)

/** Visibility of a port: `private` ones require a credential. */
export const Visibility = z.enum(['public', 'private'], 'must be public or private')
export type Visibility = z.infer<typeof Visibility>

const walletLabel = securePromptHostName.split('.')[0]

/** One label of a host name. It begins with a letter, so that it is never the address of a port and a sandbox. */
const Subdomain = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must begin with a letter and have only lower-case letters, digits and `-` inside, at most 63 characters',
  )
  // Of the same site as the wallet's own pages, it could share their process in a browser, and look like them.
  .refine((label) => label !== walletLabel, `must not be \`${walletLabel}\`, which is the name of the wallet's pages`)

/** Port of a sandbox with its URL. */
export const ExposedPort = z.object({
  port: z.int(),
  visibility: Visibility,
  public_url: z.string(),
  url: z.string(),
  /** Requests need the account's API key or a port token. */
  requires_auth: z.boolean(),
  /** For programs whose resolver has no names below `localhost`. Every service of Steward gives it; others may not. */
  connect: z
    .object({
      /** Name or address to open the connection to. */
      host: z.string(),
      port: z.int(),
      /** Value of the `Host` header, and with TLS the server name. */
      host_header: z.string(),
    })
    .optional(),
})
export type ExposedPort = z.infer<typeof ExposedPort>

/** Path parameters of port routes. */
export const PortParams = SandboxParams.extend({
  port: z.coerce.number(portNumber).int(portNumber).min(1, portNumber).max(65_535, portNumber),
})

export const exposePort = defineRoute({
  operation: 'portExpose',
  method: 'POST',
  path: '/v1/sandboxes/:id/ports/expose',
  aliases: ['/v1/sandboxes/:id/ports'],
  summary: 'Give a port of a sandbox an address, or change who may use it',
  tag: 'Ports',
  params: SandboxParams,
  body: z.object({
    port: Port,
    /** Absent is as it was, at first `public`. */
    visibility: Visibility.optional(),
    /** A name in the place of `{port}-{sandbox_id}`; absent is as it was. */
    subdomain: Subdomain.optional(),
  }),
  response: ExposedPort,
  idempotent: true,
})

export const listPorts = defineRoute({
  operation: 'portList',
  method: 'GET',
  path: '/v1/sandboxes/:id/ports',
  summary: 'List the exposed ports of a sandbox',
  tag: 'Ports',
  params: SandboxParams,
  response: z.object({ ports: z.array(ExposedPort) }),
})

/** Lists listening ports that are not exposed yet. */
export const listListeningPorts = defineRoute({
  operation: 'portListening',
  method: 'GET',
  path: '/v1/sandboxes/:id/ports/listening',
  summary: 'List the TCP ports on which programs of a running sandbox listen, exposed or not',
  tag: 'Ports',
  params: SandboxParams,
  response: z.object({ ports: z.array(z.int()) }),
})

export const removePort = defineRoute({
  operation: 'portRemove',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/ports/:port',
  summary: 'Take the address of a port away',
  tag: 'Ports',
  params: PortParams,
  response: z.object({ success: z.literal(true), message: z.string() }),
})

export const createPortToken = defineRoute({
  operation: 'portTokenCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/ports/:port/token',
  summary: 'Make a token that reaches one exposed port, and nothing else, for a while',
  tag: 'Ports',
  params: PortParams,
  /** Origin of the one page that may show `open_url` in a frame. Such a token is valid once, for one minute. */
  query: z.object({
    frame_origin: z
      .string()
      .max(300, 'must have at most 300 characters')
      .regex(/^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?$/, 'must be an origin, such as http://127.0.0.1:4000')
      .optional(),
  }),
  response: z.object({
    token: z.string(),
    /** Opens the port in a browser. */
    open_url: z.string(),
    expires_at: IsoTime,
    expires_in_seconds: z.int(),
    sandbox_id: SandboxId,
    port: z.int(),
  }),
})
