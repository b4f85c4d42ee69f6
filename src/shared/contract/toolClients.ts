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

export const toolProfiles = ['all', 'read-only', 'sandboxes', 'domains', 'money', 'code'] as const
/** Profile of a client: the tools that are listed and allowed. */
export const ToolProfile = z
  .enum(toolProfiles, `must be one of ${toolProfiles.join(', ')}`)
  .describe(
    'Which tools it sees and may call. `code`: two tools instead of all, one that searches operations and one that runs a program which calls them.',
  )
export type ToolProfile = z.infer<typeof ToolProfile>

/** Policy of a client for changes and deletions. */
export const ToolPolicy = z.object({
  changes: z
    .enum(['allow', 'ask', 'deny'], 'must be allow, ask or deny')
    .describe('What creates or changes something.'),
  destroys: z
    .enum(['allow', 'ask', 'deny'], 'must be allow, ask or deny')
    .describe('What deletes for good, or takes a name off the internet.'),
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
      'Most that it may spend in a day of UTC, credits and USDC together, in micro-dollars. Null: no limit of its own.',
    ),
  dry_run: z.boolean().describe('It reads as ever; anything else is checked, and not done.'),
}

/** Client of the local tools, without its secret. */
export const ToolClient = z.object({
  id: ToolClientId,
  ...settings,
  key_prefix: z.string(),
  spent_today_micro_usd: z.int().describe('With what is held for calls that run.'),
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
  summary: 'List the programs that may call tools',
  description:
    'Returns clients newest first, never their keys. `url` is for Streamable HTTP, `command` and `environment` are for stdin and stdout.',
  tag,
  auth: 'person',
  response: z.object({
    clients: z.array(ToolClient),
    url: z.string().describe('Where they connect: MCP by Streamable HTTP.'),
    command: z.array(z.string()).describe('What they start: MCP over stdin and stdout.'),
    environment: z.record(z.string(), z.string()).describe('Variables that the command needs.'),
  }),
})

export const createToolClient = defineRoute({
  operation: 'toolClientCreate',
  method: 'POST',
  path: '/local/tools/clients',
  summary: 'Add a program that may call tools; its key is shown once',
  description: `The key opens \`${mcpPath}\` only, and only its SHA-256 is stored. Fails with 429 \`tool/too-many-clients\` if there are 100 clients.`,
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
  summary: 'Change what a program may do with tools',
  description:
    'Absent fields keep their values; `policy` is replaced as a whole. Applies from the next call, and denies waiting calls that are no longer allowed. Fails with 404 `tool/client-not-found`.',
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
  summary: 'Revoke the key of a program at once',
  description:
    'Ends everything that the program has running, denies its waiting requests, and ends its grants. Fails with 404 `tool/client-not-found`.',
  tag,
  auth: 'person',
  params,
  response: z.object({ success: z.literal(true), id: z.string() }),
})
