import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { defineRoute } from './route.ts'
import { SandboxParams } from './sandboxes.ts'

export const getMetrics = defineRoute({
  operation: 'sandboxMetrics',
  method: 'GET',
  path: '/v1/sandboxes/:id/metrics',
  summary: 'Get the resource usage of a running sandbox',
  description:
    'Takes up to 250 milliseconds, the shortest interval for `cpu_percent`. Concurrent requests share one reading. Fails with 409 `sandbox/not-running` for a stopped sandbox.',
  tag: 'Activity',
  params: SandboxParams,
  response: z.object({
    /** Usage since the previous reading, or over a short interval if there is no recent one. 100 is one full core. */
    cpu_percent: z.number().nonnegative(),
    /** Used memory, without reclaimable file cache. */
    memory_used_mb: z.number().nonnegative(),
    memory_limit_mb: z.number(),
    /** May be some seconds old. Null until the first count of many files has finished. */
    disk_used_mb: z.number().nonnegative().nullable(),
    disk_limit_mb: z.number(),
    processes: z.int().nonnegative(),
    /** Time since the last start, in seconds. */
    uptime_seconds: z.number().nonnegative(),
    at: IsoTime,
  }),
})
