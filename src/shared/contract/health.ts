import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

export const getHealth = defineRoute({
  operation: 'health',
  method: 'GET',
  path: '/health',
  summary: 'Get the status and capabilities of the service',
  description:
    'Requires no credential. Returns 200 even if the status is `degraded`, which begins after 5 seconds without the sandbox host.',
  tag: 'Service',
  auth: 'none',
  response: z.object({
    status: z
      .enum(['ok', 'degraded'])
      .describe('`degraded`: the sandbox host is not running. All other functions work.'),
    timestamp: IsoTime,
    version: z.string(),
    capabilities: z.array(z.string()),
  }),
})
