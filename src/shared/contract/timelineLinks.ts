import { z } from 'zod'

/**
 * Task id: a chat turn (`chat:` and the id of the user message), a call of a tool or program (`call:`), or an action of
 * the user (`action:`). All consequences have the same task, in the local agent and the service.
 */
export const TaskId = z
  .string()
  .regex(/^(chat|call|action):[A-Za-z0-9_.-]{1,120}$/, 'must be a task, such as `chat:msg_1`')
export type TaskId = z.infer<typeof TaskId>

/**
 * Header with the task of a request from the local agent, which the service records. Accepted only from the account's
 * own agent, because a program with an API key could claim the task of another.
 */
export const taskHeader = 'x-steward-task'

/** Kinds of resources that an activity entry can link to. */
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

/** Links by kind, at most one id each. */
export const Links = z.partialRecord(z.enum(linkKinds), z.string())
export type Links = z.infer<typeof Links>

/** Link as text for filters and URLs, such as `payment:pay_1`. */
export const LinkText = z
  .string()
  .max(300)
  .regex(new RegExp(`^(${linkKinds.join('|')}):.`), 'must be a kind and an id, such as `payment:pay_1`')
