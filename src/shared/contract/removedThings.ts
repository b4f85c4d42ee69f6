import { z } from 'zod'
import { defineRoute } from './route.ts'

/** Entries per page of the outbox. */
export const removedThingLimits = { listed: { min: 1, max: 500, default: 500 } } as const

const { min, max, default: defaultLimit } = removedThingLimits.listed
const inRange = `must be a whole number from ${min} to ${max}`
const wholeNumber = 'must be a whole number from 0 on'

/** Kinds of removed resources. Clients must skip unknown kinds. */
export const removedKinds = ['sandbox', 'key', 'domain'] as const

/** Removal of a resource, as listed in the outbox of the service. */
export const RemovedThing = z.object({
  sequence: z.int().describe('Sequence number, which increases with each removal in this service.'),
  kind: z.string().describe(`One of ${removedKinds.join(', ')}. Later versions of the service may add kinds.`),
  id: z.string().describe('Id of the removed resource. For a domain, its name.'),
  name: z.string().describe('Last name of the resource.'),
})
export type RemovedThing = z.infer<typeof RemovedThing>

export const listRemovedThings = defineRoute({
  operation: 'removedThingList',
  method: 'GET',
  path: '/v1/removed-things',
  summary: 'List removed sandboxes, API keys and domains, oldest first',
  description:
    'Stores the newest 1,000 removals of each account. While `has_more` is true, repeat the request with the last `sequence` as `after`.',
  tag: 'Activity',
  query: z.object({
    after: z.coerce
      .number(wholeNumber)
      .int(wholeNumber)
      .min(0, wholeNumber)
      .default(0)
      .describe('Last `sequence` that the client has processed.'),
    limit: z.coerce.number(inRange).int(inRange).min(min, inRange).max(max, inRange).default(defaultLimit),
  }),
  response: z.object({
    account_id: z.string(),
    things: z.array(RemovedThing),
    has_more: z.boolean(),
    last_sequence: z
      .int()
      .describe(
        'Last sequence number of this account, or 0 if it has no removals. A value below `after` means that the database was restored.',
      ),
  }),
})
