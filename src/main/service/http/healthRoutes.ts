import { getHealth } from '#shared/contract/health.ts'
import { toIsoTime } from '#shared/time.ts'
import { createOpenEndpoint, type Endpoint } from '../base/endpoint.ts'

type Options = {
  version: string
  now: () => number
  /** Capabilities that the parts of the service report. */
  capabilities: readonly string[]
  isHostAway: () => boolean
}

export function createHealthRoutes({ version, now, capabilities, isHostAway }: Options): Endpoint[] {
  const named = [...capabilities]
  return [
    createOpenEndpoint(getHealth, () => ({
      status: isHostAway() ? 'degraded' : 'ok',
      timestamp: toIsoTime(now()),
      version,
      capabilities: named,
    })),
  ]
}
