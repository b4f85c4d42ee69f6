import { getHealth } from '../../../shared/contract/health.ts'
import { isoTime } from '../../../shared/time.ts'
import { type Endpoint, openEndpoint } from '../endpoint.ts'

type Options = {
  version: string
  now: () => number
  /** Named by each part of the service. */
  capabilities: readonly string[]
  /** Whether the sandbox host has been away for longer than a restart takes. */
  isHostAway: () => boolean
}

export function healthRoutes({ version, now, capabilities, isHostAway }: Options): Endpoint[] {
  const named = [...capabilities]
  return [
    openEndpoint(getHealth, () => ({
      status: isHostAway() ? 'degraded' : 'ok',
      timestamp: isoTime(now()),
      version,
      capabilities: named,
    })),
  ]
}
