import { z } from 'zod'
import { AccountId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { originatorKinds } from './originator.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'
import { TaskId } from './timelineLinks.ts'

/** Limits of the command and activity history. */
export const activityLimits = {
  /** Entries per page. */
  listed: { min: 1, max: 500, default: 50 },
  /** Stored entries per sandbox, for commands and activities each. */
  maxStored: 1000,
  /** Maximum length of a command's text, in bytes of UTF-8. */
  commandBytes: 4096,
} as const

/** Event of a sandbox in its activity, as `resource.event`. */
export const ActivityType = z.enum([
  'sandbox.created',
  'sandbox.started',
  'sandbox.stopped',
  'sandbox.failed',
  'sandbox.renamed',
  'sandbox.changed',
  'snapshot.created',
  'snapshot.restored',
  'snapshot.deleted',
  'domain.added',
  'domain.removed',
  'terminal.opened',
  'terminal.closed',
  'file.written',
  'command.run',
])
export type ActivityType = z.infer<typeof ActivityType>

/** Actor of an entry: an owner, key, wallet or link of the account, or the service itself. */
export const ActivityBy = z.object({
  kind: z
    .enum(['owner', 'key', 'wallet', 'link', 'service', ...originatorKinds])
    .describe(
      'Type of the originator: the owner, an API key, a signed-in wallet, a shared terminal link or the service; or a coding agent, a chat, a program or Steward that acted through the owner’s local agent.',
    ),
  name: z
    .string()
    .nullable()
    .describe(
      'Name of the API key, agent, chat or program. For a terminal link, name of the API key that issued it. For a wallet, its address. Otherwise null.',
    ),
  id: z
    .string()
    .optional()
    .describe('Id of the API key that acted or issued the terminal link. The key may have been revoked since.'),
  via: z
    .literal('owner')
    .optional()
    .describe('Originator of the activity. Present if the local agent acted for an originator other than the owner.'),
})
export type ActivityBy = z.infer<typeof ActivityBy>

/** Converts the stored columns of `by` to its wire form. */
export function parseActivityBy(kind: string, name: string | null, id: string | null): ActivityBy {
  const isOriginator = originatorKinds.some((originator) => originator === kind)
  return ActivityBy.parse({ kind, name, ...(id !== null && { id }), ...(isOriginator && { via: 'owner' }) })
}

const { min, max, default: defaultLimit } = activityLimits.listed
const inRange = `must be a whole number from ${min} to ${max}`
const wholeNumber = 'must be a whole number from 0 on'
const ListQuery = z.object({
  limit: z.coerce.number(inRange).int(inRange).min(min, inRange).max(max, inRange).default(defaultLimit),
})

export const listCommands = defineRoute({
  operation: 'commandList',
  method: 'GET',
  path: '/v1/sandboxes/:id/commands',
  summary: 'List commands that were run through the API, newest first',
  description: `Command texts are truncated to ${activityLimits.commandBytes} bytes. Environment and output are never stored. Commands that ended with their request are not listed. The newest ${activityLimits.maxStored} commands of each sandbox are stored until the sandbox is deleted.`,
  tag: 'Activity',
  params: SandboxParams,
  query: ListQuery,
  response: z.object({
    commands: z.array(
      z.object({
        /** Truncated to 4096 bytes. */
        command: z.string(),
        exit_code: z.int(),
        duration_ms: z.number(),
        /** Time at which it ended. */
        at: IsoTime,
      }),
    ),
  }),
})

export const listActivity = defineRoute({
  operation: 'activityList',
  method: 'GET',
  path: '/v1/sandboxes/:id/activity',
  summary: 'List the activity of a sandbox, newest first',
  description: `Covers starts, stops, snapshots, domains, terminals, written files and commands, but never contents. The newest ${activityLimits.maxStored} entries are stored until the sandbox is deleted; \`GET /v1/activity\` still lists them afterwards.`,
  tag: 'Activity',
  params: SandboxParams,
  query: ListQuery,
  response: z.object({
    activities: z.array(
      z.object({ id: z.string(), type: ActivityType, description: z.string(), by: ActivityBy, at: IsoTime }),
    ),
  }),
})

/** Types of account activities, in addition to those of sandboxes. */
export const AccountActivityType = z.enum([
  'account.created',
  'account.requested',
  'account.allowed',
  'account.denied',
  'auth.signed_in',
  'auth.refused_reuse',
  'auth.signed_out',
  'wallet.linked',
  'wallet.unlinked',
  'key.created',
  'key.revoked',
  'credits.sent',
  'credits.granted',
  'credits.adjusted',
  'credits.refunded',
  'credits.bought',
  'name.registered',
  'name.renewed',
  'name.changed',
  'dns.changed',
  'models.used',
  'sandbox.deleted',
  'identity.registered',
])
export type AccountActivityType = z.infer<typeof AccountActivityType>

/** Entry of an account's feed. */
export const AccountActivity = z.object({
  /** Sequence number in the account's feed, from 1. Gaps are removed entries. */
  sequence: z.int(),
  id: z.string(),
  type: ActivityType.or(AccountActivityType),
  sandbox_id: z.string().nullable(),
  /** Name of the sandbox at the time of the entry. */
  sandbox_name: z.string().nullable(),
  description: z.string(),
  by: ActivityBy,
  command: z.string().nullable().describe('Command that was run, truncated to 4096 bytes. Null for other activity.'),
  domain: z.string().nullable().default(null).describe('Domain of the activity. Null if none applies.'),
  terminal_id: z
    .string()
    .nullable()
    .default(null)
    .describe('Id of the terminal of the activity. Null if none applies.'),
  charged_micro_usd: z
    .int()
    .nullable()
    .default(null)
    .describe('Amount charged to the credits. Null if nothing was charged.'),
  task: TaskId.nullable()
    .default(null)
    .describe('Task of the agent that requested the activity: a chat turn, a call or an action. Null if none applies.'),
  at: IsoTime,
})
export type AccountActivity = z.infer<typeof AccountActivity>

/** Maximum number of stored activities per account. The oldest are removed. */
export const maxAccountActivities = 10_000

export const listAccountActivity = defineRoute({
  operation: 'accountActivityList',
  method: 'GET',
  path: '/v1/activity',
  summary: 'List the activity of the account, oldest first',
  description: `Includes the activity of all sandboxes, also deleted ones. While \`has_more\` is true, repeat the request with the last \`sequence\` as \`after\`. The newest ${maxAccountActivities} entries are stored.`,
  tag: 'Activity',
  query: z.object({
    /** `sequence` of the last entry that was read. */
    after: z.coerce.number(wholeNumber).int(wholeNumber).min(0, wholeNumber).default(0),
    ...ListQuery.shape,
  }),
  response: z.object({
    /** Account of the feed. A cursor is valid for one account only. */
    account_id: AccountId,
    activities: z.array(AccountActivity),
    has_more: z.boolean(),
  }),
})
