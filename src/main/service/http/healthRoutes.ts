import { getHealth } from '../../../shared/contract/health.ts'
import { isoTime } from '../../../shared/time.ts'
import { type Endpoint, openEndpoint } from '../endpoint.ts'

const capabilities = [
  ...['sandboxes', 'images', 'snapshots', 'files', 'ports', 'terminals', 'terminal-links'],
  ...['sign-in', 'identity', 'activity', 'events', 'idempotency'],
]

export function healthRoutes({ version, now }: { version: string; now: () => number }): Endpoint[] {
  return [
    openEndpoint(getHealth, () => ({
      status: 'ok',
      timestamp: isoTime(now()),
      version,
      capabilities,
    })),
  ]
}
