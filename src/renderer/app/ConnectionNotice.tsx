import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { ServiceConnection } from '#shared/contract/localApi.ts'
import { toPlainWord } from '#shared/openRecord.ts'
import { useConnection } from '../api/AgentProvider.tsx'
import { sandboxesKey } from '../api/sandboxes/useSandboxes.ts'
import { allTerminalsKey } from '../api/terminals/useTerminals.ts'
import { StatusDot } from '../ui/StatusDot.tsx'

const slowReadMs = 3_000

/** Lists that the service reads from its database. Other reads may depend on a registrar or a chain. */
const quickQueryKeys: readonly unknown[] = [sandboxesKey[0], allTerminalsKey[0]]

/**
 * Shown above the status bar once the service has been unreachable for a moment. Hidden when the connection is
 * restored.
 */
export function ConnectionNotice() {
  const connection = useConnection()
  const isSlow = useSlowReads()
  if (!connection || (connection.state === 'connected' && !isSlow)) return null
  // Screens that require signing in show a separate notice with the steps.
  if (connection.state === 'signed-out') return null
  const { state, detail } = connection
  const { title, text } = describeConnection({ state, detail })
  return (
    <div className="animate-delayed pointer-events-none absolute bottom-3 left-3 z-30 w-66">
      <div role="status" className="flex items-start gap-2.5 rounded-card bg-raised px-3 py-2.5 shadow-popover">
        <span className="flex h-5 items-center">
          <StatusDot tone={connection.state === 'unreachable' ? 'negative' : 'caution'} pulsing />
        </span>
        <div className="min-w-0">
          <p className="font-medium">{title}</p>
          <p className="text-muted">{text}</p>
        </div>
      </div>
    </div>
  )
}

type AwayConnection = { state: Exclude<ServiceConnection['state'], 'signed-out'>; detail: ServiceConnection['detail'] }

function describeConnection({ state, detail }: AwayConnection): { title: string; text: string } {
  const reason = detail ?? 'Your sandboxes keep running.'
  switch (state) {
    case 'starting':
      return { title: 'The service is starting', text: reason }
    case 'connected':
      return { title: 'Waiting for the service…', text: 'Lists may be out of date.' }
    case 'unreachable':
      return { title: 'Waiting for the service…', text: `${reason} Lists may be out of date.` }
    default:
      return { title: `Service: ${toPlainWord(state).toLowerCase()}`, text: reason }
  }
}

/** Whether the service has not returned a list for 3 seconds. */
function useSlowReads(): boolean {
  const cache = useQueryClient().getQueryCache()
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      const isReading = cache
        .getAll()
        .some(({ queryKey, state }) => quickQueryKeys.includes(queryKey[0]) && state.fetchStatus === 'fetching')
      if (isReading) {
        timer ??= setTimeout(() => setSlow(true), slowReadMs)
        return
      }
      clearTimeout(timer)
      timer = undefined
      setSlow(false)
    }
    look()
    const unsubscribe = cache.subscribe(look)
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [cache])
  return isSlow
}
