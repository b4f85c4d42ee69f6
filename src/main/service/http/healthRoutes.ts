import { getHealth } from '../../../shared/contract/health.ts'
import { isoTime } from '../../../shared/time.ts'
import { type Endpoint, openEndpoint } from '../endpoint.ts'

const capabilities = ['sandboxes', 'files', 'terminals', 'terminal-links', 'events', 'idempotency']

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
