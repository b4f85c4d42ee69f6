import { z } from 'zod'
import { SandboxId, unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { StoredKey } from './providers.ts'
import { defineRoute } from './route.ts'

/**
 * External MCP servers with tools for chat models. All text of such a server is untrusted. Request and response bodies
 * never contain a secret: the user enters it in a secure prompt (`tool_server_secret`).
 */

export const toolServerLimits = {
  servers: 20,
  /** Maximum number of tools per server. */
  tools: 128,
  secrets: 8,
  /** Maximum length of a description. Longer ones are truncated for the user and the model. */
  descriptionCharacters: 2_000,
  /** Maximum length of an input schema as JSON. */
  schemaCharacters: 16_000,
} as const

/** Id of a tool server: `tsv_` and 24 hexadecimal digits. */
export const ToolServerId = z
  .string()
  .regex(/^tsv_[0-9a-f]{24}$/, 'must be an id that begins with tsv_')
  .register(unknownIds, { code: 'tool-server/not-found', message: (id) => `There is no tool server ${id}.` })
  .brand<'ToolServerId'>()
export type ToolServerId = z.infer<typeof ToolServerId>

/** Excludes the prefixes of built-in tools, so that no server can use them as its name. */
const unreservedName = /^(?!(approval|chat|credits|domain|identity|operations|sandbox|steward|wallet)$)/

/** Name of the server and prefix of its tools, as in `files__read_file`. */
export const ToolServerName = z
  .string()
  .trim()
  .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be lower-case letters, digits and hyphens, at most 20')
  .regex(unreservedName, 'must be another: tools of Steward are called so')

/** Separator between server name and tool name. Names of built-in tools never contain it. */
export const serverNameSeparator = '__'

/** Returns the server name of a tool, or undefined for a built-in tool. */
export function parseServerName(tool: string): string | undefined {
  const index = tool.indexOf(serverNameSeparator)
  return index > 0 ? tool.slice(0, index) : undefined
}

const addressDemand = 'must be an https:// address, or an http:// one of this computer'
/** Transport of a tool server: a program in a sandbox, or HTTP. */
export const ToolServerTransport = z.discriminatedUnion('kind', [
  /** Program in a sandbox, over stdin and stdout. */
  z.object({
    kind: z.literal('sandbox'),
    sandbox_id: SandboxId,
    command: z.string().trim().min(1, 'must not be empty').max(4_000, 'must have at most 4000 characters'),
  }),
  z.object({
    kind: z.literal('http'),
    url: z
      .string(addressDemand)
      .trim()
      .max(500, 'must have at most 500 characters')
      .regex(/^https?:\/\/[\x21-\x7e]+$/i, addressDemand),
  }),
])
export type ToolServerTransport = z.infer<typeof ToolServerTransport>

/** Name of a header or an environment variable. */
export const SecretName = z
  .string()
  .trim()
  .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'must be letters, digits, hyphens and underscores')

const JsonSchema = z.record(z.string(), z.unknown())

/** Sanitized description of a tool: hidden characters removed, truncated, with a reduced schema. */
export const UntrustedText = z.object({
  title: z.string().nullable(),
  description: z.string(),
  input_schema: JsonSchema,
})
export type UntrustedText = z.infer<typeof UntrustedText>

/** Tool of a server, based on its own description. */
export const ExternalTool = z.object({
  name: z.string(),
  /** Name of the tool for models. Null if it cannot be called. */
  alias: z.string().nullable(),
  ...UntrustedText.shape,
  /** Digest of all metadata that the server provides for the tool. The user's approval covers this version only. */
  digest: z.string(),
  enabled: z.boolean(),
  /** Whether each call requires approval. */
  ask: z.boolean(),
  /**
   * Description that the user approved, if the server has changed it since. The tool is disabled until approved again.
   */
  changed_from: UntrustedText.nullable(),
  /** Whether the server no longer lists the tool. */
  missing: z.boolean(),
  /** Hints of the server. Untrusted, and not used for decisions. */
  hints: z.array(z.enum(['reads', 'destroys', 'open-world'])),
  /** Reason why the tool cannot be used, as a sentence. */
  fault: z.string().nullable(),
})
export type ExternalTool = z.infer<typeof ExternalTool>

/** MCP server of a third party whose tools chats may use. */
export const ToolServer = z.object({
  id: ToolServerId,
  name: z.string(),
  enabled: z
    .boolean()
    .describe('Whether the server is on. If false, Steward does not connect to it and models cannot see its tools.'),
  place: ToolServerTransport,
  secrets: z.array(z.object({ name: z.string(), key: StoredKey.nullable() })),
  tools: z.array(ExternalTool),
  /** Name last reported by the server. */
  server_name: z.string().nullable(),
  /** Protocol version of the server. */
  protocol_version: z.string().nullable(),
  /** Time at which its tools were last listed. */
  listed_at: IsoTime.nullable(),
  /** Error of the last attempt to list its tools. */
  fault: z.string().nullable(),
})
export type ToolServer = z.infer<typeof ToolServer>

const tag = 'Tool servers'
const params = z.object({ serverId: ToolServerId })
const Servers = z.object({ servers: z.array(ToolServer) })

export const listToolServers = defineRoute({
  operation: 'toolServerList',
  method: 'GET',
  path: '/local/tool-servers',
  summary: 'List MCP servers',
  description:
    'Returns the MCP servers whose tools chats may use, in the order in which they were added. Tools are as last listed; the request connects to no server. Names and descriptions of tools come from the servers, so display them as text only.',
  tag,
  auth: 'person',
  response: Servers,
})

export const addToolServer = defineRoute({
  operation: 'toolServerAdd',
  method: 'POST',
  path: '/local/tool-servers',
  summary: 'Add an MCP server',
  description: `The server is a program in a sandbox or an address. The server and its tools are initially off, and Steward does not connect yet. Fails with 409 \`tool-server/exists\`, or 429 \`tool-server/too-many\` if there are ${toolServerLimits.servers} servers.`,
  example: {
    name: 'search',
    place: { kind: 'http', url: 'https://mcp.example.com/mcp' },
    secret_names: ['Authorization'],
  },
  tag,
  auth: 'person',
  status: 201,
  refusals: [409, 429],
  body: z.object({
    name: ToolServerName,
    place: ToolServerTransport,
    secret_names: z
      .array(SecretName)
      .max(toolServerLimits.secrets, `must be at most ${toolServerLimits.secrets}`)
      .default([])
      .describe(
        'Names of HTTP headers for an address, or of environment variables for a program. Enter their values in the secure prompt `tool_server_secret`.',
      ),
  }),
  response: ToolServer,
})

export const changeToolServer = defineRoute({
  operation: 'toolServerChange',
  method: 'PATCH',
  path: '/local/tool-servers/:serverId',
  summary: 'Turn an MCP server on or off',
  description:
    'Turning a server off ends its connection or program. The settings of its tools remain unchanged. Fails with 404 `tool-server/not-found`.',
  example: { enabled: true },
  tag,
  auth: 'person',
  params,
  body: z.object({ enabled: z.boolean() }),
  response: ToolServer,
})

export const testToolServer = defineRoute({
  operation: 'toolServerTest',
  method: 'POST',
  path: '/local/tool-servers/:serverId/test',
  summary: 'Refresh the tools of an MCP server',
  description:
    'Connects to the server, even if it is off, and lists its tools. Reports a failed connection in `fault`, not as an error. Turns off tools that have changed since they were approved.',
  tag,
  auth: 'person',
  params,
  response: ToolServer,
})

export const changeExternalTool = defineRoute({
  operation: 'toolServerToolChange',
  method: 'PUT',
  path: '/local/tool-servers/:serverId/tools',
  summary: 'Turn tools of an MCP server on or off, or change whether they need approval',
  description:
    'Changes all listed tools or none. Fails with 409 `tool-server/changed` if `digest` is outdated, or 409 `tool-server/unusable` if a tool cannot be called.',
  example: { tools: [{ name: 'read_file', digest: '5d41402abc4b2a76b9719d911017c592', enabled: true, ask: true }] },
  tag,
  auth: 'person',
  refusals: [409],
  params,
  body: z.object({
    tools: z
      .array(
        z.object({
          name: z.string().max(1_000),
          digest: z
            .string()
            .max(64)
            .describe(
              'Digest of the tool version that the user reviewed. The request is refused if the tool has changed since.',
            ),
          enabled: z.boolean(),
          ask: z.boolean(),
        }),
      )
      .min(1, 'must not be empty')
      .max(toolServerLimits.tools),
  }),
  response: ToolServer,
})

export const removeToolServer = defineRoute({
  operation: 'toolServerRemove',
  method: 'DELETE',
  path: '/local/tool-servers/:serverId',
  summary: 'Remove an MCP server and its secrets',
  description:
    'Deletes the secrets first, and ends the program of the server. If the secrets cannot be deleted, for example with 423 `wallet/keychain-locked`, the server remains. Fails with 404 `tool-server/not-found`.',
  tag,
  auth: 'person',
  refusals: [423],
  params,
  response: z.object({ success: z.literal(true), id: z.string() }),
})
