import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'

export const getHealth = defineRoute({
  operation: 'health',
  method: 'GET',
  path: '/health',
  summary: 'Whether the service answers, and what it can do',
  tag: 'Service',
  auth: 'none',
  response: z.object({
    status: z.enum(['ok', 'degraded']).describe('`degraded`: the sandbox host is not running; everything else works.'),
    timestamp: IsoTime,
    version: z.string(),
    capabilities: z.array(z.string()),
  }),
})
