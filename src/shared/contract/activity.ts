import { z } from 'zod'
import { AccountId } from '../ids.ts'
import { IsoTime } from '../time.ts'
import { originatorKinds } from './originator.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'
import { TaskId } from './timelineLinks.ts'

export const activityLimits = {
  /** Entries per page. */
  listed: { min: 1, max: 500, default: 50 },
  /** Stored entries per sandbox, for commands and activities each. */
  kept: 1000,
  /** Maximum length of a command's text, in bytes of UTF-8. */
  commandBytes: 4096,
} as const

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
      'The owner, an API key, a wallet that signed in, a shared terminal link, the service on its own; or a coding agent, a chat, a program or Steward itself that acted through the owner’s local agent',
    ),
  name: z
    .string()
    .nullable()
    .describe(
      'Name of the API key, agent, chat or program; of a terminal link, of the API key that issued it; address of the wallet; otherwise null',
    ),
  id: z
    .string()
    .optional()
    .describe('Id of the API key that acted, or issued the terminal link: it may be revoked by now'),
  via: z
    .literal('owner')
    .optional()
    .describe('Present where the local agent acted for an originator other than the owner'),
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
  summary: 'List the commands that were run through the API, newest first',
  description: `The text of a command ends after ${activityLimits.commandBytes} bytes; its environment and output are never stored. Commands that ended with their request are missing. The newest ${activityLimits.kept} of each sandbox are stored until its deletion.`,
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
  description: `Covers starts, stops, snapshots, domains, terminals, written files and commands, never contents. The newest ${activityLimits.kept} entries are stored until deletion of the sandbox; \`GET /v1/activity\` still lists them afterwards.`,
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
  command: z.string().nullable().describe('What was run, cut after 4096 bytes; null for everything else'),
  domain: z.string().nullable().default(null).describe('The domain that it is about; else null'),
  terminal_id: z.string().nullable().default(null).describe('The terminal that it is about; else null'),
  charged_micro_usd: z.int().nullable().default(null).describe('What it took from the credits; null for nothing'),
  task: TaskId.nullable()
    .default(null)
    .describe('What it belongs to for the agent that had it done: a turn of a chat, a call, an action; else null'),
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
  description: `Includes the activity of all sandboxes, deleted ones too. While \`has_more\` is true, repeat the request with the last \`sequence\` as \`after\`. The newest ${maxAccountActivities} entries are stored.`,
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
