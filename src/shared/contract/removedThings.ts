import { z } from 'zod'
import { defineRoute } from './route.ts'

export const removedThingLimits = { listed: { min: 1, max: 500, default: 500 } } as const

const { min, max, default: defaultLimit } = removedThingLimits.listed
const inRange = `must be a whole number from ${min} to ${max}`
const wholeNumber = 'must be a whole number from 0 on'

/** Kinds of removed resources. Clients must skip unknown kinds. */
export const removedKinds = ['sandbox', 'key', 'domain'] as const

export const RemovedThing = z.object({
  sequence: z.int().describe('Grows with each removal at this service.'),
  kind: z.string().describe(`One of ${removedKinds.join(', ')}; later services may have more.`),
  id: z.string().describe('The name of a domain.'),
  name: z.string().describe('The last one.'),
})
export type RemovedThing = z.infer<typeof RemovedThing>

export const listRemovedThings = defineRoute({
  operation: 'removedThingList',
  method: 'GET',
  path: '/v1/removed-things',
  summary: 'List removed sandboxes, API keys and domains of the account, oldest first',
  description:
    'The newest 1,000 of each account are stored. While `has_more` is true, repeat the request with the last `sequence` as `after`.',
  tag: 'Activity',
  query: z.object({
    after: z.coerce
      .number(wholeNumber)
      .int(wholeNumber)
      .min(0, wholeNumber)
      .default(0)
      .describe('The last `sequence` that the client has processed.'),
    limit: z.coerce.number(inRange).int(inRange).min(min, inRange).max(max, inRange).default(defaultLimit),
  }),
  response: z.object({
    account_id: z.string(),
    things: z.array(RemovedThing),
    has_more: z.boolean(),
    last_sequence: z.int().describe('Of this account; 0 for none. Below `after`: the database was restored.'),
  }),
})
