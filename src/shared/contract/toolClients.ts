import { z } from 'zod'
import { unknownIds } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { Label } from './wallet.ts'

/** Programs that call tools over MCP. Each has a key that is valid only for `/mcp`. */

export const mcpPath = '/mcp'
/** Prefix of keys that are valid only for `/mcp`, unlike keys of the account. */
export const toolKeyPrefix = 'sk_tools_'
/**
 * File in the data folder, readable by this user only, from which local programs read the endpoint of the running
 * Steward.
 */
export const stdioEndpointFile = 'mcp.json'
/** Local endpoint for `steward-mcp`. */
export const StdioEndpoint = z.object({ url: z.string(), key: z.string(), pid: z.int() })
export type StdioEndpoint = z.infer<typeof StdioEndpoint>

/** Header of a request to `/mcp` that restricts the client's profile for this request. */
export const profileHeader = 'x-steward-profile'

/** Named subsets of the tools. `all` includes tools of third-party servers; `code` has two tools that run programs. */
export const toolProfiles = ['all', 'read-only', 'sandboxes', 'domains', 'money', 'code'] as const
/** Profile of a client: the tools that are listed and allowed. */
export const ToolProfile = z
  .enum(toolProfiles, `must be one of ${toolProfiles.join(', ')}`)
  .describe(
    'Tools that the client can list and call. `code` replaces them with two tools: one searches operations, the other runs a program that calls them.',
  )
export type ToolProfile = z.infer<typeof ToolProfile>

/** Policy of a client for changes and deletions. */
export const ToolPolicy = z.object({
  changes: z
    .enum(['allow', 'ask', 'deny'], 'must be allow, ask or deny')
    .describe('Policy for calls that create or change something.'),
  destroys: z
    .enum(['allow', 'ask', 'deny'], 'must be allow, ask or deny')
    .describe('Policy for calls that permanently delete something or take a name off the internet.'),
})
export type ToolPolicy = z.infer<typeof ToolPolicy>

/** Id of a tool client: `mcp_` and 24 hexadecimal digits. */
export const ToolClientId = z
  .string()
  .regex(/^mcp_[0-9a-f]{24}$/, 'must be an id that begins with mcp_')
  .register(unknownIds, { code: 'tool/client-not-found', message: (id) => `There is no tool client ${id}.` })
  .brand<'ToolClientId'>()
export type ToolClientId = z.infer<typeof ToolClientId>

const settings = {
  name: Label,
  profile: ToolProfile,
  policy: ToolPolicy,
  daily_budget_micro_usd: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .nullable()
    .describe(
      'Maximum daily spending (UTC) in micro-dollars, credits and USDC combined. Null if the client has no separate limit.',
    ),
  dry_run: z
    .boolean()
    .describe('Whether calls are only validated. Read calls run normally; other calls are checked but not executed.'),
}

/** Client of the local tools, without its secret. */
export const ToolClient = z.object({
  id: ToolClientId,
  ...settings,
  key_prefix: z.string(),
  spent_today_micro_usd: z.int().describe('Amount spent today, including amounts reserved for running calls.'),
  created_at: IsoTime,
  last_used_at: IsoTime.nullable(),
})
export type ToolClient = z.infer<typeof ToolClient>

const tag = 'Tools'
const params = z.object({ clientId: ToolClientId })

export const listToolClients = defineRoute({
  operation: 'toolClientList',
  method: 'GET',
  path: '/local/tools/clients',
  summary: 'List tool clients, newest first',
  description:
    'Returns the programs that may call tools, without their keys. Clients connect to `url` over Streamable HTTP, or start `command` with `environment` and use stdin and stdout.',
  tag,
  auth: 'person',
  response: z.object({
    clients: z.array(ToolClient),
    url: z.string().describe('URL of the MCP endpoint for Streamable HTTP.'),
    command: z.array(z.string()).describe('Command that clients start to use MCP over stdin and stdout.'),
    environment: z.record(z.string(), z.string()).describe('Environment variables that the command requires.'),
  }),
})

export const createToolClient = defineRoute({
  operation: 'toolClientCreate',
  method: 'POST',
  path: '/local/tools/clients',
  summary: 'Create a tool client',
  description: `Returns the key of the program once. The key is valid only for \`${mcpPath}\`, and only its SHA-256 is stored. Fails with 429 \`tool/too-many-clients\` if there are 100 clients.`,
  example: { name: 'Claude Code', profile: 'sandboxes', daily_budget_micro_usd: 2_000_000 },
  tag,
  auth: 'person',
  status: 201,
  refusals: [429],
  body: z.object({
    ...settings,
    profile: ToolProfile.default('all'),
    policy: ToolPolicy.default({ changes: 'allow', destroys: 'ask' }),
    daily_budget_micro_usd: settings.daily_budget_micro_usd.default(null),
    dry_run: settings.dry_run.default(false),
  }),
  response: z.object({ client: ToolClient, key: z.string() }),
})

export const changeToolClient = defineRoute({
  operation: 'toolClientChange',
  method: 'PATCH',
  path: '/local/tools/clients/:clientId',
  summary: 'Update a tool client',
  description:
    'Omitted fields remain unchanged; `policy` is replaced as a whole. Changes apply from the next call. Waiting calls that are no longer allowed are denied. Fails with 404 `tool/client-not-found`.',
  example: { policy: { changes: 'ask', destroys: 'deny' } },
  tag,
  auth: 'person',
  params,
  body: z.object(settings).partial(),
  response: ToolClient,
})

export const revokeToolClient = defineRoute({
  operation: 'toolClientRevoke',
  method: 'DELETE',
  path: '/local/tools/clients/:clientId',
  summary: 'Revoke the key of a tool client immediately',
  description:
    'Ends all running calls and programs of the client, denies its waiting requests and ends its grants. Fails with 404 `tool/client-not-found`.',
  tag,
  auth: 'person',
  params,
  response: z.object({ success: z.literal(true), id: z.string() }),
})
