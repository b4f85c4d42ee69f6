import { z } from 'zod'

/**
 * What belongs together: a turn of a chat (`chat:` and the message that asked), a call of a tool or of a program (`call:`),
 * or what a person did (`action:`). Everything that follows from it carries the same task, in both halves.
 */
export const TaskId = z
  .string()
  .regex(/^(chat|call|action):[A-Za-z0-9_.-]{1,120}$/, 'must be a task, such as `chat:msg_1`')
export type TaskId = z.infer<typeof TaskId>

/**
 * Which task a request of the agent belongs to, so that the service notes it with what it does. Counts from the account's
 * own agent alone: the API key of a program could name a task that is not its own.
 */
export const taskHeader = 'x-steward-task'

/** What an entry of the log can lead to. */
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
export type LinkKind = (typeof linkKinds)[number]

/** At most one of each kind, by its id. */
export const Links = z.partialRecord(z.enum(linkKinds), z.string())
export type Links = z.infer<typeof Links>

/** `payment:pay_1`, for filters and addresses. */
export const LinkText = z
  .string()
  .max(300)
  .regex(new RegExp(`^(${linkKinds.join('|')}):.`), 'must be a kind and an id, such as `payment:pay_1`')
