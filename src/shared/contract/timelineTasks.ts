import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { TimelineEntry } from './timeline.ts'
import { Links, TaskId } from './timelineLinks.ts'

/** Totals of one task in the log. Amounts are final, grouped by kind of money. */
export const TimelineTask = z.object({
  task: TaskId,
  title: z.string().describe('User message of a chat turn in a list; otherwise the summary of the first entry.'),
  outcome: z.string().describe('Summary of the last entry.'),
  actor: TimelineEntry.shape.actor.describe('Actor that started the task.'),
  entries: z.int().describe('Number of entries in the task.'),
  first_at: IsoTime,
  last_at: IsoTime,
  last_sequence: z.int(),
  cost_micro_usd: z.int().describe('Cost of models.'),
  paid_micro_usdc: z.int().describe('Total of settled payments.'),
  paid_test_micro_usdc: z.int().describe('Total of settled payments in test money, which has no value.'),
  charged_micro_usd: z.int().describe('Credits charged for anything except models.'),
  estimated: z.boolean().describe('Whether any part of the cost is estimated.'),
  links: Links,
})
export type TimelineTask = z.infer<typeof TimelineTask>

export const readTask = defineRoute({
  operation: 'timelineTask',
  method: 'GET',
  path: '/local/activity/tasks/:task',
  summary: 'Get the costs, outcome and links of a task',
  description:
    'Covers the newest 20,000 entries. Changed entries count as zero. USDC, test money and credits are reported separately. Fails with 404 `activity/task-not-found`.',
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
  description: 'Excludes actions that the user takes in the window. Sorts tasks by their last entry.',
  tag: 'Activity',
  auth: 'person',
  query: z.object({
    before: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe(
        'Returns only tasks that ended earlier. Pass the `last_sequence` of the last task on the previous page.',
      ),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  }),
  response: z.object({ tasks: z.array(TimelineTask), has_more: z.boolean() }),
})
