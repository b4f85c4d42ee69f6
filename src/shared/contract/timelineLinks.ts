import { z } from 'zod'

/**
 * Task id: a turn of a chat (`chat:` and the message of the user), a call of a tool or program (`call:`), or an action of
 * the user (`action:`). All consequences carry the same task, in both halves.
 */
export const TaskId = z
  .string()
  .regex(/^(chat|call|action):[A-Za-z0-9_.-]{1,120}$/, 'must be a task, such as `chat:msg_1`')
export type TaskId = z.infer<typeof TaskId>

/**
 * Header with the task of a request of the agent, which the service records. Accepted from the agent of the account only:
 * the API key of a program could claim the task of another.
 */
export const taskHeader = 'x-steward-task'

/** Kinds of links in log entries. */
export const linkKinds = [
  'conversation',
  'message',
  'intent',
  'payment',
  'tool_call',
  'sandbox',
  'terminal',
  'domain',
  'plan',
  'registration',
  'recording',
] as const
/** Kind of a link between log entries. */
export type LinkKind = (typeof linkKinds)[number]

/** At most one of each kind, by its id. */
export const Links = z.partialRecord(z.enum(linkKinds), z.string())
export type Links = z.infer<typeof Links>

/** `payment:pay_1`, for filters and addresses. */
export const LinkText = z
  .string()
  .max(300)
  .regex(new RegExp(`^(${linkKinds.join('|')}):.`), 'must be a kind and an id, such as `payment:pay_1`')
