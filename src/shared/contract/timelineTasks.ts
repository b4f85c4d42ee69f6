import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { TimelineEntry } from './timeline.ts'
import { Links, TaskId } from './timelineLinks.ts'

/** Totals of one task in the log. Amounts are final, grouped by kind of money. */
export const TimelineTask = z.object({
  task: TaskId,
  title: z.string().describe('In a list, the user message of a chat turn; otherwise the summary of its first entry.'),
  outcome: z.string().describe('The summary of its last entry.'),
  actor: TimelineEntry.shape.actor.describe('Who began it.'),
  entries: z.int().describe('How many belong to it.'),
  first_at: IsoTime,
  last_at: IsoTime,
  last_sequence: z.int(),
  cost_micro_usd: z.int().describe('What models cost.'),
  paid_micro_usdc: z.int().describe('Payments that are settled.'),
  paid_test_micro_usdc: z.int().describe('The same in test money, which is worth nothing.'),
  charged_micro_usd: z.int().describe('Taken from the credits, for anything but models.'),
  estimated: z.boolean().describe('Part of it is estimated.'),
  links: Links,
})
export type TimelineTask = z.infer<typeof TimelineTask>

export const readTask = defineRoute({
  operation: 'timelineTask',
  method: 'GET',
  path: '/local/activity/tasks/:task',
  summary: 'Get the costs, outcome and links of a task',
  description:
    'Covers the newest 20,000 entries; changed entries count as zero. USDC, test money and credits are separate amounts. Fails with 404 `activity/task-not-found`.',
  tag: 'Activity',
  auth: 'person',
  refusals: [404],
  params: z.object({ task: TaskId }),
  response: TimelineTask,
})

export const listTasks = defineRoute({
  operation: 'timelineTasks',
  method: 'GET',
  path: '/local/activity/tasks',
  summary: 'List the tasks of chats and programs, newest first',
  description: 'Excludes actions of the user in the window. Orders tasks by their last entry.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({
    before: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Only those that ended before: `last_sequence` of the last one of the page before.'),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  }),
  response: z.object({ tasks: z.array(TimelineTask), has_more: z.boolean() }),
})
