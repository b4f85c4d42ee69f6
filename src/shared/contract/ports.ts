import { z } from 'zod'
import { SandboxId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'
import { securePromptHostName } from './wallet.ts'

/** Maximum number of exposed ports per sandbox. */
export const maxExposedPorts = 64

const portNumber = 'must be a whole number from 1 to 65535'
/** TCP port. */
export const Port = z.int(portNumber).min(1, portNumber).max(65_535, portNumber)

/** Visibility of a port. `private` ports require a credential. */
export const Visibility = z.enum(['public', 'private'], 'must be public or private')
export type Visibility = z.infer<typeof Visibility>

const walletLabel = securePromptHostName.split('.')[0]

/** Label of a host name. Starts with a letter, so that it cannot equal the generated host name of a port. */
const Subdomain = z
  .string()
  .regex(
    /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'must begin with a letter and have only lower-case letters, digits and `-` inside, at most 63 characters',
  )
  // A page on the same site as the wallet's pages could share their browser process and imitate them.
  .refine((label) => label !== walletLabel, `must not be \`${walletLabel}\`, which is the name of the wallet's pages`)

/** Exposed port of a sandbox, with its URL. */
export const ExposedPort = z.object({
  port: z.int(),
  visibility: Visibility,
  public_url: z.string(),
  url: z.string(),
  /** Whether requests need the account's API key or a port token. */
  requires_auth: z.boolean(),
  /**
   * Connection details for programs that cannot resolve names below `localhost`. Present in every service of Steward;
   * optional in others.
   */
  connect: z
    .object({
      /** Host name or address to connect to. */
      host: z.string(),
      port: z.int(),
      /** Value of the `Host` header, and the server name for TLS. */
      host_header: z.string(),
    })
    .optional(),
})
export type ExposedPort = z.infer<typeof ExposedPort>

/** Path parameters of routes of one port, from 1 to 65535. */
export const PortParams = SandboxParams.extend({
  port: z.coerce.number(portNumber).int(portNumber).min(1, portNumber).max(65_535, portNumber),
})

export const exposePort = defineRoute({
  operation: 'portExpose',
  method: 'POST',
  path: '/v1/sandboxes/:id/ports/expose',
  aliases: ['/v1/sandboxes/:id/ports'],
  summary: 'Expose a sandbox port or change its visibility',
  description: `Assigns the port an address, which lasts until you remove the port or delete the sandbox. Allows ${maxExposedPorts} exposed ports per sandbox. Fails with 429 \`port/too-many\` above this limit, or 409 \`port/taken\` if another port uses the subdomain.`,
  example: { port: 3000, visibility: 'private' },
  tag: 'Ports',
  params: SandboxParams,
  body: z.object({
    port: Port,
    /** Unchanged if absent; initially `public`. */
    visibility: Visibility.optional(),
    /** Replaces `{port}-{sandbox_id}`. Unchanged if absent. */
    subdomain: Subdomain.optional(),
  }),
  response: ExposedPort,
  idempotent: true,
})

export const listPorts = defineRoute({
  operation: 'portList',
  method: 'GET',
  path: '/v1/sandboxes/:id/ports',
  summary: 'List exposed ports',
  description: 'Returns the exposed ports of the sandbox, sorted by number, whether or not a program listens on them.',
  tag: 'Ports',
  params: SandboxParams,
  response: z.object({ ports: z.array(ExposedPort) }),
})

export const listListeningPorts = defineRoute({
  operation: 'portListening',
  method: 'GET',
  path: '/v1/sandboxes/:id/ports/listening',
  summary: 'List listening TCP ports',
  description:
    'Returns the ports on which programs in the sandbox listen, in ascending order, exposed or not. Includes only ports that are reachable over the loopback interface of the sandbox. Fails with 409 `sandbox/not-running`.',
  tag: 'Ports',
  params: SandboxParams,
  response: z.object({ ports: z.array(z.int()) }),
})

export const removePort = defineRoute({
  operation: 'portRemove',
  method: 'DELETE',
  path: '/v1/sandboxes/:id/ports/:port',
  summary: 'Stop exposing a port',
  description:
    'Removes the address of the port. Programs in the sandbox continue to run. Domains that point to the port remain listed and work again when the port is exposed again. Fails with 404 `port/not-found`.',
  tag: 'Ports',
  params: PortParams,
  response: z.object({ success: z.literal(true), message: z.string() }),
})

export const createPortToken = defineRoute({
  operation: 'portTokenCreate',
  method: 'POST',
  path: '/v1/sandboxes/:id/ports/:port/token',
  summary: 'Create an access token for an exposed port',
  description:
    'The token lasts 12 hours, or one minute and a single use with `frame_origin`, but never outlasts the API key or sign-in that creates it. Send it as `Authorization: Bearer`, `x-api-key` or `x-steward-port-token`. Fails with 404 `port/not-found` if the port is not exposed.',
  tag: 'Ports',
  params: PortParams,
  /** Origin of the only page that may embed `open_url` in a frame. Such a token can be used once, within one minute. */
  query: z.object({
    frame_origin: z
      .string()
      .max(300, 'must have at most 300 characters')
      .regex(/^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?$/, 'must be an origin, such as http://127.0.0.1:4000')
      .optional(),
  }),
  response: z.object({
    token: z.string(),
    /** URL that opens the port in a browser. */
    open_url: z.string(),
    expires_at: IsoTime,
    expires_in_seconds: z.int(),
    sandbox_id: SandboxId,
    port: z.int(),
  }),
})
