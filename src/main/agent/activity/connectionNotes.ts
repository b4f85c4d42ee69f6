import type { RecordActivity } from '../base/recordActivity.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'

/** Grace period that ignores brief outages, such as a service restart or a network interruption. */
const outageGracePeriodMs = 10_000

/** Records when the service connects, stays unavailable, or signs the wallet out. */
export function recordConnections({
  link,
  recordActivity,
  awayMs = outageGracePeriodMs,
}: {
  link: Pick<ServiceLink, 'subscribe'>
  recordActivity: RecordActivity
  awayMs?: number
}): { close(): void } {
  let connected = false
  let timer: NodeJS.Timeout | undefined
  let away: 'signed-out' | 'unreachable' = 'unreachable'

  const unsubscribe = link.subscribe((event) => {
    if (event.type !== 'connection.changed') return
    const { name, kind, url, state, detail } = event.connection
    const actor = { kind: 'service', name } as const
    if (state === 'connected') {
      clearTimeout(timer)
      timer = undefined
      if (connected) return
      connected = true
      recordActivity({ kind: 'service.connected', actor, summary: `Connected to ${name}.`, detail: { kind, url } })
    } else if (state !== 'starting') {
      away = state
      timer ??= setTimeout(() => {
        timer = undefined
        if (connected && away === 'signed-out')
          recordActivity({ kind: 'service.signed-out', actor, summary: `Signed out of ${name}.`, detail: { detail } })
        else if (connected)
          recordActivity({ kind: 'service.lost', actor, summary: `${name} stopped responding.`, detail: { detail } })
        connected = false
      }, awayMs)
    }
  })
  return {
    close() {
      unsubscribe()
      clearTimeout(timer)
    },
  }
}
